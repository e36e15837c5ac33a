/* The shared library of two programs: areas and outlines of shapes. */
#ifndef SHAPES_H
#define SHAPES_H

#ifdef __cplusplus
extern "C" {
#endif

typedef int shape_visitor(int area, void *data);

int shape_area(int kind, int width, int height);
int shape_outline(int kind, int width, int height);
/* Calls `visit` for `count` shapes made from `seed`; ends when it returns 0. */
int shape_visit(unsigned seed, int count, shape_visitor *visit, void *data);

#ifdef __cplusplus
}
#endif
#endif
