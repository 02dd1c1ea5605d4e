/** Temporary folders for tests that need real files; removed when the test process ends. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folders: string[] = []
process.on('exit', () => {
  for (const f of folders) rmSync(f, { recursive: true, force: true })
})

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice test '))
  folders.push(folder)
  return folder
}
