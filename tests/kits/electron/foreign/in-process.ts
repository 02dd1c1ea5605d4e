/** Reads untrusted files in the test's own process: for tests that do not depend on the process that reads them. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ok, type Result } from '#core/base/result.ts'
import { ForeignFiles } from '#electron/foreign/foreign-files.ts'
import { answerOf } from '#electron/foreign/program.ts'
import type { HistoryReader } from '#electron/history/reader.ts'
import { checkFile, openChecked, readerOf, type OpenedFile } from '#electron/history/open-recording.ts'
import { verifyBundle } from '#electron/incidents/bundle/verify.ts'

export const filesHere = (): ForeignFiles => new ForeignFiles(async (task) => ok(await answerOf(task, 2 ** 24)))

export function openHere(file: string): Result<OpenedFile> {
  const checked = checkFile(file)
  return checked.ok ? openChecked(checked.value) : checked
}

export function readHere(file: string, cluster?: string): Result<HistoryReader> {
  const opened = openHere(file)
  return opened.ok ? readerOf(opened.value, cluster) : opened
}

export const verifyHere = (file: string): ReturnType<typeof verifyBundle> =>
  verifyBundle(file, mkdtempSync(join(tmpdir(), 'sluice-verify-')))
