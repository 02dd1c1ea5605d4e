/**
 * Recording of a bundle, unpacked into a private folder under a name chosen by Sluice, upgraded and checked there. Runs
 * in a process that can be killed (electron/foreign).
 */
import { join } from 'node:path'
import { fail, type Result } from '#core/base/result.ts'
import { HISTORY } from '#core/snapshot/manifest.ts'
import { checkFile, type CheckedFile } from '../../history/open-recording.ts'
import { upgradeCopy } from '../../history/upgrade-copy.ts'
import { damaged, openZip } from '../zip/zip-in.ts'

/** Unpacks the recording of a bundle into a folder and checks it. */
export type UnpackHistory = (file: string, folder: string) => Promise<Result<CheckedFile>>

/** An older recording is upgraded in the unpacked copy. */
export function checkUnpacked(file: string): Result<CheckedFile> {
  const checked = checkFile(file)
  if (checked.ok || checked.error.code !== 'RECORDING_OLDER') return checked
  const upgraded = upgradeCopy(file)
  return upgraded.ok ? checkFile(file) : upgraded
}

/**
 * @param folder  private, existing.
 *
 * Failures: those of the archive (BUNDLE_GONE, _UNREADABLE, _FOREIGN, _REFUSED, _DAMAGED, _FAILED), those of the
 * recording.
 */
export const unpackHistory: UnpackHistory = async (file, folder) => {
  const zip = await openZip(file)
  if (!zip.ok) return zip
  try {
    if (!zip.value.entries.has(HISTORY)) {
      return fail(damaged(HISTORY, 'it is not in this bundle: there is nothing to replay'))
    }
    const to = join(folder, HISTORY)
    const out = await zip.value.extract(HISTORY, to)
    if (!out.ok) return out
    const checked = checkUnpacked(to)
    return checked.ok ? checked : fail({ ...checked.error, what: `${HISTORY} of the bundle cannot be opened` })
  } finally {
    zip.value.close()
  }
}
