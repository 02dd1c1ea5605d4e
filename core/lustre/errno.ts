/** The errors that Lustre's parameters answer with: name, number (lctl's exit code) and the C library's words for it. */
const TABLE = {
  EPERM: [1, 'Operation not permitted'],
  ENOENT: [2, 'No such file or directory'],
  EAGAIN: [11, 'Resource temporarily unavailable'],
  ENOMEM: [12, 'Cannot allocate memory'],
  EACCES: [13, 'Permission denied'],
  EBUSY: [16, 'Device or resource busy'],
  EEXIST: [17, 'File exists'],
  ENODEV: [19, 'No such device'],
  EINVAL: [22, 'Invalid argument'],
  ERANGE: [34, 'Numerical result out of range'],
  ENAMETOOLONG: [36, 'File name too long'],
} as const

export type Errno = keyof typeof TABLE

/** Exit code that lctl ends with for this error. */
export const errnoNumber = (e: Errno): number => TABLE[e][0]

/** What lctl prints for this error. */
export const errnoText = (e: Errno): string => TABLE[e][1]
