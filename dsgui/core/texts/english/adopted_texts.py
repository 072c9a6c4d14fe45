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
    "other_logs": "{file} tells most and was read; other logs were not ({count}): {others}.",
    "many_files": "{count} event files; the first {most} were read.",
    "many_values": "The first {count} values were read; there are more.",
    "pickled": "{file} is not opened: it is a pickle, which can run code.",
    "several_configs": "Several DeepSpeed configs lie there ({files}); nobody knows which was used, so none was taken.",
    "times_ambiguous": "{file}: which number of its dates is the month can’t be told, so its curves are by step.",
    "times_backwards": "{file}: its times go backwards, so its curves are by step.",
    "no_values": "Nothing in its files is a value of a training.",
    # of the folder
    "many_runs": "{count} trainings were found; the first {most} were added. Add the others by their own folders: "
    "{left}.",
    "not_whole": "The folder has more files than dsgui looks at ({count}); what lies deeper was not seen. Add a folder "
    "inside it.",
    "links": "Links were not followed ({count}).",
    "closed": "Folders that can't be read ({count}) were left out.",
    "own_runs": "Runs of dsgui itself ({count}) were left out; open them with --runs-dir.",
    "silent": "Files that look like logs and tell nothing of a training ({count}): {files}.",
    "seen_nothing": "it holds no files",
    "seen_own": "it holds runs of dsgui itself ({count}); open them with --runs-dir",
    "seen_silent": "it holds {files}, in which no values of a training were recognised",
    "seen_pointers": "it holds {files}, which are only Git LFS pointers: run “git lfs pull” there first",
    "pointers": "Files that are only Git LFS pointers ({count}), whose content “git lfs pull” brings: {files}.",
    "more_notes": "The same holds for more files ({count}).",
    "seen_others": "it holds {files}",
    # on a terminal and on the page
    "found": "{name}: {kinds}",
    "added_one": "added as {run}",
    "read_again": "read again: {run}",
    "unchanged": "nothing new: {run}",
    "not_added": "not added",
    "in_folder": "Found in {folder}:",
}
