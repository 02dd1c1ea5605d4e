/** The thread that writes a bundle dies: the export fails with a reason. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import type { ExportTask } from './export-thread.ts'
import { exportInThread, type RunEvent } from './export-run.ts'

it.each([
  ['exits', 'process.exit(3)', 'its thread ended: code 3'],
  ['throws', `throw new Error('no luck')`, 'its thread ended: no luck'],
  ['ends without a word', '', 'its thread ended: code 0'],
])('a thread that %s', async (_, text, why) => {
  const program = join(tempFolder(), 'thread.mjs')
  writeFileSync(program, text)
  const reported: RunEvent[] = []
  for await (const event of exportInThread({} as ExportTask, undefined, program)) reported.push(event)
  expect(reported).toEqual([
    { kind: 'end', result: { ok: false, error: expect.objectContaining({ code: 'BUNDLE_FAILED', why }) as unknown } },
  ])
})
