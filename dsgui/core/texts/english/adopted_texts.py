"""Texts of trainings that dsgui did not start: what was found in a folder, and what of it was not understood."""

from collections.abc import Mapping

ADOPTED: Mapping[str, str] = {
    # what a run was made of
    "kind_trainer_state": "trainer_state.json",
    "kind_tensorboard": "TensorBoard event files",
    "kind_csv_monitor": "DeepSpeed csv_monitor",
    "kind_log": "a log",
    # of one file
    "unreadable": "{file} can't be read: {why}.",
    "state_damaged": "{file} is damaged or half written; nothing of it was taken.",
    "events_damaged": "{file} is damaged after byte {byte}; what comes before was read.",
    "too_large": "{file} has {size}; its first {most} were read.",
    "bad_rows": "{file}: rows that are not two numbers were left out ({count}).",
    "other_logs": "{file} contains the most and was read; other logs were not ({count}): {others}.",
    "many_files": "{count} event files; the first {most} were read.",
    "many_values": "The first {count} values were read; there are more.",
    "pickled": "{file} is not opened: it is a pickle, which can run code.",
    "several_configs": "Several DeepSpeed configs were found ({files}); which one was used is not known, so none was "
    "taken.",
    "times_ambiguous": "{file}: its dates don’t show which number is the month, so its curves are drawn by step.",
    "times_backwards": "{file}: its times go backwards, so its curves are drawn by step.",
    "no_values": "Its files contain no training values.",
    # of the folder
    "many_runs": "{count} trainings were found; the first {most} were added. Add the others by their own folders: "
    "{left}.",
    "not_whole": "The folder has more files than dsgui looks at ({count}); deeper folders were not searched. Add "
    "a folder inside it.",
    "links": "Links were not followed ({count}).",
    "closed": "Folders that can't be read ({count}) were left out.",
    "own_runs": "Runs of dsgui itself ({count}) were left out; open them with --runs-dir.",
    "silent": "Files that look like logs but contain neither training values nor a launch that failed "
    "({count}): {files}.",
    "seen_nothing": "it contains no files",
    "seen_own": "it contains runs of dsgui itself ({count}); open them with --runs-dir",
    "seen_silent": "it contains {files}, in which neither training values nor "
    "a launch of DeepSpeed or torch was recognized",
    "seen_pointers": "it contains {files}, which are only Git LFS pointers: run “git lfs pull” there first",
    "pointers": "Files that are only Git LFS pointers ({count}), whose content “git lfs pull” brings: {files}.",
    "more_notes": "The same holds for more files ({count}).",
    "seen_others": "it contains {files}",
    # on a terminal and on the page
    "found": "{name}: {kinds}",
    "added_one": "added as {run}",
    "read_again": "read again: {run}",
    "unchanged": "nothing new: {run}",
    "not_added": "not added",
    "in_folder": "Found in {folder}:",
}
