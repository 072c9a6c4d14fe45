"""The smallest useful Gradio app, as the yardstick for dsgui's start: `python -m benchmarks.minimal_app PORT`."""

import os
import sys

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import gradio as gr


def main() -> None:
    """One text box in, one out."""
    with gr.Blocks(analytics_enabled=False) as demo:
        name = gr.Textbox(label="Name")
        greeting = gr.Textbox(label="Greeting")
        name.change(lambda text: f"Hello, {text}", name, greeting)
    demo.launch(server_port=int(sys.argv[1]), quiet=True, ssr_mode=False)


if __name__ == "__main__":
    main()
