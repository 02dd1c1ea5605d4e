/** The answers of real servers: SLUICE_CORPUS names a folder of *.jsonl, one record a line. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseVersion } from '#core/lustre/version.ts'
import { profileOf } from '#core/lustre/profile.ts'
import type { Release } from '#core/lustre/release.ts'

interface Bytes {
  readonly text?: string
  readonly b64?: string
}

interface Line {
  readonly id: string
  readonly lustre: string
  readonly cpt: number | null
  readonly backend: readonly string[]
  readonly user: string
  readonly setup: string
  readonly load: string
  readonly command: string
  readonly exit: number
  readonly stdout: Bytes
  readonly stderr: Bytes
}

/** One command that ran on a server, and its answer as byte text. */
export interface CorpusRecord extends Omit<Line, 'stdout' | 'stderr'> {
  readonly release: Release
  readonly stdout: string
  readonly stderr: string
}

const bytesOf = ({ text, b64 }: Bytes): string =>
  b64 === undefined ? Buffer.from(text ?? '', 'utf8').toString('latin1') : Buffer.from(b64, 'base64').toString('latin1')

/** Records by file, each in the order in which the commands ran. */
export function readCorpus(folder: string): Map<string, CorpusRecord[]> {
  const files = readdirSync(folder).filter((f) => f.endsWith('.jsonl'))
  return new Map(
    files.map((file) => [
      file,
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Line)
        .map((r) => ({
          ...r,
          release: profileOf(parseVersion(r.lustre)).release,
          stdout: bytesOf(r.stdout),
          stderr: bytesOf(r.stderr),
        })),
    ]),
  )
}
