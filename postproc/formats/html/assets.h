/* The fixed parts of a report, which are built into litifut-post. */
#ifndef LITIFUT_POSTPROC_FORMATS_HTML_ASSETS_H
#define LITIFUT_POSTPROC_FORMATS_HTML_ASSETS_H

/* NUL-terminated. A report is page, style, body, data, and script, in this order. */
extern const char post_html_page[];
extern const char post_html_style[];
extern const char post_html_body[];
extern const char post_html_script[];

#endif
