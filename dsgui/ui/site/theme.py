"""Gradio's theme, made of the properties of `static/styles/design.css`: its parts look as ours do, in every mode.

Gradio's own dark values stand on another element than its light ones, so each colour is given twice."""

import gradio as gr

# Gradio's own 600 weight holds a handful of letters only, so bold text takes the 700 one.
_SANS = gr.themes.LocalFont("Source Sans Pro", weights=(400, 700))
_MONO = gr.themes.LocalFont("IBM Plex Mono", weights=(400, 700))
_CHINESE = ("PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", "WenQuanYi Zen Hei")
_STEPS = ("xxs", "xs", "sm", "md", "lg", "xl", "xxl")
# What Gradio calls it, and the property of ours that it takes.
_COLOURS = {
    "body_background_fill": "page",
    "body_text_color": "text",
    "body_text_color_subdued": "text-muted",
    "background_fill_primary": "surface",
    "background_fill_secondary": "sunken",
    "border_color_primary": "border",
    "border_color_accent": "accent",
    "border_color_accent_subdued": "accent",
    "color_accent_soft": "accent-soft",
    "link_text_color": "accent-2",
    "link_text_color_active": "accent-2",
    "link_text_color_hover": "text",
    "link_text_color_visited": "accent-2",
    "block_background_fill": "surface",
    "block_border_color": "border",
    "block_info_text_color": "text-muted",
    "block_label_background_fill": "surface",
    "block_label_border_color": "border",
    "block_label_text_color": "text-muted",
    "block_title_text_color": "text-muted",
    "panel_background_fill": "sunken",
    "code_background_fill": "sunken",
    "checkbox_background_color": "surface",
    "checkbox_background_color_focus": "surface",
    "checkbox_background_color_hover": "hover",
    "checkbox_background_color_selected": "accent",
    "checkbox_border_color": "border-strong",
    "checkbox_border_color_focus": "focus-color",
    "checkbox_border_color_hover": "text-muted",
    "checkbox_border_color_selected": "accent",
    "checkbox_label_background_fill": "surface",
    "checkbox_label_background_fill_hover": "hover",
    "checkbox_label_background_fill_selected": "accent-soft",
    "checkbox_label_border_color": "border",
    "checkbox_label_border_color_hover": "border-strong",
    "checkbox_label_border_color_selected": "accent",
    "checkbox_label_text_color": "text",
    "checkbox_label_text_color_selected": "text",
    "error_background_fill": "error-soft",
    "error_border_color": "error",
    "error_text_color": "error",
    "error_icon_color": "error",
    "input_background_fill": "surface",
    "input_background_fill_focus": "surface",
    "input_background_fill_hover": "surface",
    "input_border_color": "border-strong",
    "input_border_color_focus": "focus-color",
    "input_border_color_hover": "text-muted",
    "input_placeholder_color": "text-muted",
    "loader_color": "accent",
    "slider_color": "accent",
    "table_border_color": "border",
    "table_even_background_fill": "surface",
    "table_odd_background_fill": "sunken",
    "table_row_focus": "accent-soft",
    "button_primary_background_fill": "accent",
    "button_primary_background_fill_hover": "accent-hover",
    "button_primary_border_color": "accent",
    "button_primary_border_color_hover": "accent-hover",
    "button_primary_text_color": "on-accent",
    "button_primary_text_color_hover": "on-accent",
    "button_secondary_background_fill": "surface",
    "button_secondary_background_fill_hover": "hover",
    "button_secondary_border_color": "border",
    "button_secondary_border_color_hover": "border-strong",
    "button_secondary_text_color": "text",
    "button_secondary_text_color_hover": "text",
    "button_cancel_background_fill": "error",
    "button_cancel_background_fill_hover": "error-hover",
    "button_cancel_border_color": "error",
    "button_cancel_border_color_hover": "error-hover",
    "button_cancel_text_color": "on-error",
    "button_cancel_text_color_hover": "on-error",
}
_SAME = {
    "color_accent": "accent",
    "shadow_drop": "shadow-1",
    "shadow_drop_lg": "shadow-2",
    "block_title_text_size": "text-sm",
    "block_info_text_size": "text-sm",
    "block_radius": "radius-2",
    "container_radius": "radius-2",
    "input_radius": "radius-1",
    "checkbox_border_radius": "radius-1",
    "table_radius": "radius-2",
    "button_large_radius": "radius-2",
    "button_medium_radius": "radius-1",
    "button_small_radius": "radius-1",
    "button_large_text_size": "text-md",
    "button_large_text_weight": "bold",
    "button_medium_text_size": "text-md",
    "button_medium_text_weight": "regular",
    "button_small_text_size": "text-md",
    "prose_header_text_weight": "bold",
}


def _sizes(name: str, *places: str) -> gr.themes.Size:
    values = (f"var(--ds-{name}-{place})" for place in places)
    return gr.themes.Size(**dict(zip(_STEPS, values, strict=True)))


def make_theme() -> gr.themes.Default:
    """The theme. Every value of it that can be seen is one of design.css."""
    theme = gr.themes.Default(
        primary_hue="teal",
        neutral_hue="slate",
        spacing_size=_sizes("space", "1", "1", "1", "2", "3", "4", "5"),
        radius_size=_sizes("radius", "1", "1", "1", "1", "2", "2", "3"),
        text_size=_sizes("text", "xs", "xs", "sm", "md", "lg", "xl", "2xl"),
        font=(_SANS, "system-ui", *_CHINESE, "sans-serif"),
        font_mono=(_MONO, "ui-monospace", *_CHINESE, "monospace"),
    )
    colours = {name: f"var(--ds-{ours})" for name, ours in _COLOURS.items()}
    dark = {f"{name}_dark": value for name, value in colours.items()}
    same = {name: f"var(--ds-{ours})" for name, ours in _SAME.items()}
    theme.set(**colours, **dark, **same, button_border_width="1px", button_border_width_dark="1px")
    theme.set(input_shadow_focus="none", input_shadow_focus_dark="none", button_transition="none")
    return theme
