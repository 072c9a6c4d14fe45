"""The pages. Every module of them imports Gradio, after this."""

from dsgui.ui.gradio_stubs import leave_out

leave_out()
