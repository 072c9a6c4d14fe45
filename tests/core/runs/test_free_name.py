"""The name of a run that nobody typed."""

from dsgui.core.runs.free_name import free_name
from tests.support.cases import each_case


@each_case(
    ("name", "taken", "free"),
    [
        ("T5 translates", [], "T5 translates"),
        ("T5 translates", ["T5 translates"], "T5 translates 2"),
        ("T5 translates 2", ["T5 translates", "T5 translates 2"], "T5 translates 3"),
        ("T5 translates", ["T5 translates", "T5 translates 2"], "T5 translates 3"),
        ("Llama 3", [], "Llama 3"),
        ("Llama 3", ["Llama 3"], "Llama 3 (2)"),
        ("Llama 3 (2)", ["Llama 3", "Llama 3 (2)"], "Llama 3 (3)"),
        ("Qwen 7", ["Qwen 7", "Qwen 7 (2)"], "Qwen 7 (3)"),
        ("size 512", ["size", "size 512"], "size 512 (2)"),
    ],
)
def test_a_number_counts_runs_only_where_it_does(name, taken, free):
    assert free_name(name, taken) == free
