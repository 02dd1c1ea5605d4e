/** What the system says of a file, in words. */
const isErrno = (e: unknown): e is NodeJS.ErrnoException => e instanceof Error && 'code' in e
export const hasCode = (e: unknown, ...codes: string[]): boolean => isErrno(e) && codes.includes(e.code ?? '')

/** Why a file could not be written, in words. */
export function whyNot(e: unknown): string {
  if (hasCode(e, 'ENOSPC', 'EDQUOT')) return 'the disk is full'
  if (hasCode(e, 'EFBIG')) return 'files may not become so large here'
  if (hasCode(e, 'EROFS')) return 'the disk is read-only'
  if (hasCode(e, 'EACCES', 'EPERM')) return 'this user may not write there'
  return e instanceof Error ? e.message : String(e)
}
