"""What the guard answers to those it does not let in."""

from collections.abc import Mapping

ACCESS: Mapping[str, str] = {
    "log_in_title": "Log in to dsgui",
    "log_in_advice": (
        "dsgui can start programs, so it needs a login. Open the newest address that it printed where it "
        "was started; it ends in ?login=… and works in one browser. If you set a token, add ?token=TOKEN "
        "to the address. A program sends the header “Authorization: Bearer TOKEN”."
    ),
    "unknown_host_title": "Unknown host name",
    "unknown_host_advice": (
        "Open the address dsgui printed when it started. To use another name, start dsgui with --allow-host NAME."
    ),
    "other_site_title": "Request from another site",
    "other_site_advice": (
        "dsgui only accepts requests from its own pages. Behind a proxy, pass the Host header on unchanged."
    ),
    "used_link_title": "This login link was already used or has expired",
    "used_link_advice": (
        "Each works in one browser. When it is used, dsgui prints a new one where it was started: open that."
    ),
    "not_found_title": "Page not found",
    "not_found_advice": "Go back to the dsgui home page.",
    "method_title": "Method not allowed",
    "method_advice": "Use GET for pages and POST for events.",
    "no_body_title": "Unexpected request body",
    "no_body_advice": "Send the request without one.",
    "content_type_title": "Unsupported content type",
    "content_type_advice": "Send events as JSON and files as a form upload.",
    "too_large_title": "Too large",
    "too_large_advice": "dsgui takes at most {most} at a time; a config is smaller.",
    "too_slow_title": "Request timed out",
    "too_slow_advice": "The request did not arrive in time. Send it again.",
    "busy_title": "Server busy",
    "busy_advice": "dsgui is handling as many requests as it can. Try again in a moment.",
    "guesses_title": "Too many wrong tokens",
    "guesses_advice": "Wait a few seconds. The correct token still works.",
    "broken_title": "Internal error",
    "broken_advice": "See the terminal where dsgui was started for details, then try again.",
    "no_sockets_title": "WebSockets are not supported",
    "no_sockets_advice": "dsgui doesn't use them.",
    "event_title": "Unknown event",
    "event_advice": "{problem}",
    "welcome_title": "Welcome",
    "welcome_advice": "One moment…",
}
