/** Errors of the operating system on files, as text. */
const isErrno = (e: unknown): e is NodeJS.ErrnoException => e instanceof Error && 'code' in e
export const hasCode = (e: unknown, ...codes: string[]): boolean => isErrno(e) && codes.includes(e.code ?? '')

/** Reason why a file could not be written, as text. */
export function fileErrorText(e: unknown): string {
  if (hasCode(e, 'ENOSPC', 'EDQUOT')) return 'the disk is full'
  if (hasCode(e, 'EFBIG')) return 'the file size limit is exceeded'
  if (hasCode(e, 'EROFS')) return 'the disk is read-only'
  if (hasCode(e, 'EACCES', 'EPERM')) return 'this user has no write permission there'
  return e instanceof Error ? e.message : String(e)
}
