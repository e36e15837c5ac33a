/* A recording of the rig (CSV of a PPK2) as a Joulescope file, by the maker's library.
 *
 *   write_jls CSV JLS VOLTS SAMPLES/S */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jls.h>
#include <jls/writer.h>

#define BLOCK 100000

static int define(struct jls_wr_s *writer, uint16_t id, uint32_t type, uint32_t rate,
		  const char *name, const char *units)
{
	struct jls_signal_def_s signal = {.signal_id = id,
					  .source_id = 1,
					  .signal_type = JLS_SIGNAL_TYPE_FSR,
					  .data_type = type,
					  .sample_rate = rate,
					  .samples_per_data = BLOCK,
					  .sample_decimate_factor = 100,
					  .entries_per_summary = 20000,
					  .summary_decimate_factor = 100,
					  .annotation_decimate_factor = 100,
					  .utc_decimate_factor = 100,
					  .name = name,
					  .units = units};

	return jls_wr_signal_def(writer, &signal);
}

int main(int count, char **arguments)
{
	struct jls_source_def_s source = {.source_id = 1,
					  .name = "rig",
					  .vendor = "",
					  .model = "",
					  .version = "",
					  .serial_number = ""};
	static float current[BLOCK], voltage[BLOCK];
	static uint8_t bits[BLOCK / 8];
	struct jls_wr_s *writer;
	double time, microamperes;
	char pins[16], line[128];
	int64_t first = 0;
	uint32_t used = 0;

	if (count != 5 || !freopen(arguments[1], "r", stdin) || !fgets(line, sizeof(line), stdin) ||
	    jls_wr_open(&writer, arguments[2]))
		return 1;
	uint32_t rate = (uint32_t)atoi(arguments[4]);
	int bad = jls_wr_source_def(writer, &source) ||
		  define(writer, 1, JLS_DATATYPE_F32, rate, "current", "A") ||
		  define(writer, 2, JLS_DATATYPE_F32, rate, "voltage", "V") ||
		  define(writer, 3, JLS_DATATYPE_U1, rate, "gpi[0]", "");
	for (int more = 1; more && !bad;) {
		more = fgets(line, sizeof(line), stdin) &&
		       sscanf(line, "%lf,%lf,%15s", &time, &microamperes, pins) == 3;
		if (more) {
			current[used] = (float)(microamperes * 1e-6);
			voltage[used] = (float)atof(arguments[3]);
			if (pins[0] == '1')
				bits[used / 8] |= (uint8_t)(1 << used % 8);
			used++;
		}
		if (used == BLOCK || (!more && used)) {
			bad = jls_wr_fsr_f32(writer, 1, first, current, used) ||
			      jls_wr_fsr_f32(writer, 2, first, voltage, used) ||
			      jls_wr_fsr(writer, 3, first, bits, used);
			memset(bits, 0, sizeof(bits));
			first += used;
			used = 0;
		}
	}
	return jls_wr_close(writer) || bad;
}
