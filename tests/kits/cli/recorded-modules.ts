/**
 * The `sluice` command as a process that records the modules it loads, including those of its threads.
 *
 *     const { ended, modules } = await sluiceModules(['rules', 'list', 'demo'])
 *     expect(modules).not.toContain('electron/host/host.ts')
 */
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { tempFolder } from '../../node/temp-folder.ts'
import type { Ended } from './in-process.ts'
import { sluiceProcess } from './process.ts'

const ROOT = join(import.meta.dirname, '../../..')
const RECORDER = pathToFileURL(join(import.meta.dirname, 'module-recorder.ts')).href

export interface RecordedRun {
  readonly ended: Ended
  /** Loaded files, as paths relative to the checkout. */
  readonly modules: readonly string[]
}

/** Runs a command to its end. */
export async function sluiceModules(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<RecordedRun> {
  const file = join(tempFolder(), 'modules')
  const ended = await sluiceProcess(args, {
    ...env,
    NODE_OPTIONS: `--import=${RECORDER}`,
    SLUICE_RECORDED_MODULES: file,
  })
  const urls = readFileSync(file, 'utf8').split('\n')
  const paths = urls.filter((url) => url.startsWith('file:')).map((url) => relative(ROOT, fileURLToPath(url)))
  return { ended, modules: [...new Set(paths)] }
}
