/**
 * The style of the frames in which the console shows HTML and SVG of guests. The policy of the console allows this text, by its
 * hash, and no other inline style.
 */
export const frameStyle = `:root{color-scheme:light dark;font:14px/1.5 system-ui,sans-serif}
body{margin:8px;overflow-wrap:anywhere}
img{display:block;max-width:100%;height:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:4px 10px;text-align:right;border-bottom:1px solid #8884}
th{font-weight:600}
caption{padding:4px 0;text-align:left;opacity:.75}
pre,code{font:13px/1.5 ui-monospace,monospace}
pre{white-space:pre-wrap;margin:0}
blockquote{margin:0;padding-left:12px;border-left:3px solid #8886}`
