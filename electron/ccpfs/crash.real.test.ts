/**
 * ccPFS under seeded crash schedules: kills, a full and a slow disk, cut messages and evictions. Ten in every run, one for each kind
 * of fault; `SLUICE_CRASH_SEEDS=1-100` runs those of other seeds.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runSchedule } from '#tests/kits/electron/ccpfs/crash-schedule.ts'

/** True if this process may mount a tmpfs. */
function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' })
    execFileSync('umount', [folder])
    return true
  } catch {
    return false
  } finally {
    rmdirSync(folder)
  }
}

const [first = 1, last = 10] = (process.env['SLUICE_CRASH_SEEDS'] ?? '1-10').split('-').map(Number)
const seeds = Array.from({ length: last - first + 1 }, (_, i) => first + i)
const hasDisk = mayMount()

describe('a crash schedule', { timeout: 180_000 }, () => {
  it.each(seeds)('of seed %i loses nothing that was acknowledged by fsync and mixes nothing', async (seed) => {
    const result = await runSchedule(seed, hasDisk)
    const { policy, faults, problems, operations, durableWrites, evictions, heldLocks } = result
    process.stdout.write(
      `# seed ${seed}: ${policy}; ${faults.join(', ')}; ${operations} operations, ${durableWrites} durable writes, ${evictions} evictions, locks at kills: ${heldLocks.join(' ')}\n`,
    )
    expect(problems).toEqual([])
    expect(durableWrites).toBeGreaterThan(0)
  })
})
