"""What the guard answers to those it does not let in, in Chinese."""

from collections.abc import Mapping

ACCESS: Mapping[str, str] = {
    "log_in_title": "登录 dsgui",
    "log_in_advice": (
        "dsgui 能启动程序，因此需要登录。请打开 dsgui 在其启动终端中最近输出的地址：它以 ?login=… 结尾，"
        "只能用于一个浏览器。如果你为它指定了 token，请在地址后加上 "
        "?token=TOKEN。程序请发送请求头“Authorization: Bearer TOKEN”。"
    ),
    "unknown_host_title": "未知的主机名",
    "unknown_host_advice": "请打开 dsgui 启动时输出的地址。要使用其他名称，请用 --allow-host NAME 启动 dsgui。",
    "other_site_title": "请求来自其他网站",
    "other_site_advice": "dsgui 只接受自己页面发出的请求。如在代理之后，请让代理原样传递 Host 请求头。",
    "used_link_title": "此登录链接已被使用或已过期",
    "used_link_advice": (
        "每个链接只能用于一个浏览器。链接被使用后，dsgui 会在启动它的终端中输出新的链接：请打开新链接。"
    ),
    "not_found_title": "找不到页面",
    "not_found_advice": "请返回 dsgui 首页。",
    "method_title": "不支持的请求方法",
    "method_advice": "页面请用 GET，事件请用 POST。",
    "no_body_title": "请求不应带有正文",
    "no_body_advice": "请去掉请求正文后重新发送。",
    "content_type_title": "不支持的内容类型",
    "content_type_advice": "事件请以 JSON 发送，文件请以表单上传。",
    "too_large_title": "请求过大",
    "too_large_advice": "dsgui 一次最多接收 {most}；配置文件不会这么大。",
    "too_slow_title": "请求超时",
    "too_slow_advice": "请求没有及时到达。请重新发送。",
    "busy_title": "服务器繁忙",
    "busy_advice": "dsgui 正在处理的请求已达上限。请稍后再试。",
    "guesses_title": "token 错误次数过多",
    "guesses_advice": "请等几秒钟。正确的 token 仍然有效。",
    "broken_title": "内部错误",
    "broken_advice": "详情见启动 dsgui 的终端，然后再试一次。",
    "no_sockets_title": "不支持 WebSocket",
    "no_sockets_advice": "dsgui 不使用 WebSocket。",
    "event_title": "未知事件",
    "event_advice": "{problem}",
    "welcome_title": "欢迎",
    "welcome_advice": "请稍候…",
}
