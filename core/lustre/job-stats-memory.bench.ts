/**
 * Memory for reading 1 GB of job_stats whose entries are dropped immediately: the largest resident size of a separate process, above its
 * size before the first byte. Run directly with a file name, this module is the measured process.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { JobStatsScanner } from './job-stats-scanner.ts'

const BYTES = 1e9
const CHUNK = 65_536
const JOBS = 10_000

interface Streamed {
  readonly rssMb: number
  readonly mbPerS: number
}

/** Streams one target's table repeatedly, as a server with dozens of targets would. */
function stream(file: string): Streamed {
  const fd = openSync(file, 'r')
  const buffer = Buffer.alloc(CHUNK)
  const before = process.memoryUsage.rss()
  let rss = before
  let entries = 0
  let bytes = 0
  const scanner = new JobStatsScanner({ entry: () => void entries++ }, { zeros: true })
  const began = performance.now()
  while (bytes < BYTES) {
    for (let at = 0; ;) {
      const n = readSync(fd, buffer, 0, CHUNK, at)
      if (n === 0) break
      scanner.push(buffer.subarray(0, n))
      rss = Math.max(rss, process.memoryUsage.rss())
      at += n
      bytes += n
    }
  }
  scanner.end()
  const seconds = (performance.now() - began) / 1000
  if (entries % JOBS !== 0 || scanner.skipped.count > 0) throw new Error('every job is read, every line understood')
  return { rssMb: (rss - before) / 1e6, mbPerS: bytes / 1e6 / seconds }
}

async function measured(): Promise<number> {
  // Imported late, so that the measured process does not load it.
  const { mixedJobStats } = await import('./job-stats-sample.bench.ts')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    const file = join(folder, 'job_stats')
    writeFileSync(file, mixedJobStats(JOBS), 'latin1')
    const out = execFileSync(process.execPath, [fileURLToPath(import.meta.url), file], { encoding: 'utf8' })
    return (JSON.parse(out) as Streamed).rssMb
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const benches = [
  {
    id: 'lustre.stream-job-stats.memory',
    unit: 'MB',
    run: measured,
    note: 'largest resident size above the start while 1 GB goes through, counters without samples kept',
    must: { most: 64 },
    limit: 'a chunk, the entry that is being read, and what the collector has not yet taken',
    runs: 5,
  },
] as const

if (import.meta.main) process.stdout.write(`${JSON.stringify(stream(process.argv[2] as string))}\n`)
