/* flash: makes UBI of the flash memory mtd0, and a volume of all of it. */
#include <fcntl.h>
#include <mtd/ubi-user.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

int main(void)
{
	struct ubi_attach_req attach;
	struct ubi_mkvol_req volume;
	int control = open("/dev/ubi_ctrl", O_RDONLY);
	int device;

	memset(&attach, 0, sizeof(attach));
	attach.ubi_num = 0;
	attach.mtd_num = 0;
	if (ioctl(control, UBI_IOCATT, &attach)) {
		perror("flash: UBI_IOCATT");
		return 1;
	}
	memset(&volume, 0, sizeof(volume));
	volume.vol_id = 0;
	volume.alignment = 1;
	volume.bytes = 13 << 20;
	volume.vol_type = UBI_DYNAMIC_VOLUME;
	volume.name_len = 5;
	strcpy(volume.name, "trace");
	device = open("/dev/ubi0", O_RDONLY);
	if (ioctl(device, UBI_IOCMKVOL, &volume)) {
		perror("flash: UBI_IOCMKVOL");
		return 1;
	}
	return 0;
}
