/**
 * Errors returned by Lustre's parameters: name, number and the C library's message.
 *
 * ENOTSUPP is internal to the kernel and has no message: 2.15.8 returns it for an unknown TBF type, and its lctl prints the number and
 * exits with its low byte, 12, like ENOMEM.
 */
const TABLE = {
  EPERM: [1, 'Operation not permitted'],
  ENOENT: [2, 'No such file or directory'],
  EIO: [5, 'Input/output error'],
  EAGAIN: [11, 'Resource temporarily unavailable'],
  ENOMEM: [12, 'Cannot allocate memory'],
  EACCES: [13, 'Permission denied'],
  EBUSY: [16, 'Device or resource busy'],
  EEXIST: [17, 'File exists'],
  ENODEV: [19, 'No such device'],
  EISDIR: [21, 'Is a directory'],
  EINVAL: [22, 'Invalid argument'],
  ERANGE: [34, 'Numerical result out of range'],
  ENAMETOOLONG: [36, 'File name too long'],
  EOPNOTSUPP: [95, 'Operation not supported'],
  ENOTSUPP: [524, 'Unknown error 524'],
} as const

export type Errno = keyof typeof TABLE

/** Exit code of lctl for this error: the low byte of its number. */
export const errnoNumber = (e: Errno): number => TABLE[e][0] & 0xff

/** Message that lctl prints for this error. */
export const errnoText = (e: Errno): string => TABLE[e][1]
