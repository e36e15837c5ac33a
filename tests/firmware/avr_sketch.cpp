/* A sketch with what sketches have: Serial, classes with virtual functions, String, floats, an interrupt of a timer. */
#include <Arduino.h>

class Sensor {
public:
	virtual ~Sensor() {}
	virtual int read() = 0;
	virtual const char *name() const { return "sensor"; }
	int average(uint8_t count);
};

int __attribute__((noinline)) Sensor::average(uint8_t count)
{
	long sum = 0;

	for (uint8_t i = 0; i < count; i++)
		sum += read();
	return (int)(sum / count);
}

class Counter : public Sensor {
public:
	int read() { return next += 3; }
private:
	int next = 0;
};

class Wave : public Sensor {
public:
	int read() { angle += 0.5f; return (int)(100 * sin(angle)); }
	const char *name() const { return "wave"; }
private:
	float angle = 0;
};

static volatile uint16_t ticks;

static void __attribute__((noinline)) tick() { ticks++; }

ISR(TIMER2_COMPA_vect) { tick(); }

static Counter counter;
static Wave wave;
static Sensor *const sensors[] = {&counter, &wave};

void setup()
{
	Serial.begin(1000000);
	TCCR2A = 1 << WGM21;
	TCCR2B = 4;
	OCR2A = 100;
	TIMSK2 = 1 << OCIE2A;
}

void loop()
{
	static uint8_t round = 0;
	Sensor *sensor = sensors[round % 2];
	String line = String(sensor->name()) + ' ' + String(round, HEX) + ": ";

	line += sensor->average(4);
	Serial.println(line);
	Serial.println(1.5 * round, 3);
	pinMode(13, OUTPUT);
	digitalWrite(13, round & 1);
	delay(2);
	if (++round == 12) {
		Serial.println(ticks > 20 ? F("ticks") : F("none"));
		Serial.flush();
		cli();
		exit(0);
	}
}
