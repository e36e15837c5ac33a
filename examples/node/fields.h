/* The fields of a bundle's header in their order, each with the least and the most that it may be.
 */
#ifndef FIELDS_H
#define FIELDS_H

#define ALL_FIELDS(FIELD)                                                                          \
	FIELD(version, 6, 6)                                                                       \
	FIELD(flags, 0, 0x1fffff)                                                                  \
	FIELD(header_length, 19, 95)                                                               \
	FIELD(destination_node, 1, 0xffff)                                                         \
	FIELD(destination_service, 0, 0xff)                                                        \
	FIELD(source_node, 1, 0xffff)                                                              \
	FIELD(source_service, 0, 0xff)                                                             \
	FIELD(report_node, 0, 0xffff)                                                              \
	FIELD(report_service, 0, 0xff)                                                             \
	FIELD(custodian_node, 0, 0xffff)                                                           \
	FIELD(custodian_service, 0, 0xff)                                                          \
	FIELD(creation_time, 1, 0xffffffff)                                                        \
	FIELD(creation_number, 0, 0xffff)                                                          \
	FIELD(lifetime, 1, 86400)                                                                  \
	FIELD(dictionary_length, 0, 0)                                                             \
	FIELD(fragment_offset, 0, 0xffff)                                                          \
	FIELD(total_length, 1, 0xffff)                                                             \
	FIELD(payload_flags, 0, 0x7f)                                                              \
	FIELD(payload_length, 1, PAYLOAD_BYTES)

#define FIELD_NAME(name, least, most) FIELD_##name,
enum field { ALL_FIELDS(FIELD_NAME) FIELDS };
#undef FIELD_NAME

#endif
