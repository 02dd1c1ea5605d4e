/**
 * The errors that Lustre's parameters answer with: name, number and the C library's words for it.
 *
 * ENOTSUPP is the kernel's own and has no words: an unknown TBF type is that on 2.15.8, whose lctl prints the number and
 * ends with its low byte, 12, as if it were ENOMEM.
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

/** Exit code that lctl ends with for this error: the low byte of its number. */
export const errnoNumber = (e: Errno): number => TABLE[e][0] & 0xff

/** What lctl prints for this error. */
export const errnoText = (e: Errno): string => TABLE[e][1]
