/**
 * Cost of one reading of a server: bytes, time, and CPU time on the server.
 *
 * CPU: the time that the kernel has added up for the children of the login's shell (utime, stime, cutime, cstime of
 * /proc/PID/stat), difference over several readings in a row, divided by their number. sudo, lctl and the kernel's work
 * for them are included; sshd is not. The kernel counts in steps of 10 ms, so the resolution is 10 ms over the number
 * of readings. It needs the command channel: with a shell of its own for every command there is nothing to compare.
 */
import { median } from '#core/base/statistics.ts'
import type { ServerRole } from '#core/api/clusters.ts'
import { ok, type Result } from '#core/base/result.ts'
import { getParamCommand } from '#core/lustre/lctl.ts'
import { parseShellCpu, READ_SHELL_CPU, type ShellCpu } from '../probes/shell-cpu.ts'
import { servicesOf } from '../../base/service.ts'
import type { Exec } from './checklist.ts'

export interface ReadingCost {
  readonly role: 'oss' | 'mds'
  readonly command: string
  readonly runs: number
  /** Bytes per reading. */
  readonly bytes: number
  /** Median time from sending the command to the last byte of its answer. */
  readonly ms: number
  /** CPU time on the server; undefined if unknown. */
  readonly cpuMs: number | undefined
  /** Smallest step of `cpuMs`. */
  readonly cpuStepMs: number
  /** Exit code of the last reading. */
  readonly code: number
}

const RUNS = 10
const RUNS_OF_LARGE = 3
const LARGE_BYTES = 1_000_000
const STEP_MS = 10

/** Command of a sample: job_stats of all targets, policies and rules. */
export function sampleCommand(role: 'oss' | 'mds'): string {
  const services = servicesOf([role])
  const jobStats = [...new Set(services.map((s) => s.jobStats))]
  return getParamCommand(...jobStats, ...services.flatMap((s) => [s.policies, s.rules]))
}

async function shellCpu(exec: Exec): Promise<Result<ShellCpu | undefined>> {
  const ran = await exec(READ_SHELL_CPU)
  return ran.ok ? ok(parseShellCpu(ran.value.stdout.trim())) : ran
}

/**
 * Measures the reading of a sample. Failures: those of `exec`.
 *
 * @param exec   the gated shell, in its command channel.
 * @param roles  roles of the server; an MGS alone has no reading.
 */
export async function measureReadings(exec: Exec, roles: readonly ServerRole[]): Promise<Result<ReadingCost[]>> {
  const costs: ReadingCost[] = []
  for (const role of ['oss', 'mds'] as const) {
    if (!roles.includes(role)) continue
    const command = sampleCommand(role)
    const first = await exec(command)
    if (!first.ok) return first
    const runs = first.value.stdout.length > LARGE_BYTES ? RUNS_OF_LARGE : RUNS
    const tookMs: number[] = []
    let last = first.value
    const cpuBefore = await shellCpu(exec)
    if (!cpuBefore.ok) return cpuBefore
    for (let i = 0; i < runs; i++) {
      const began = performance.now()
      const ran = await exec(command)
      if (!ran.ok) return ran
      last = ran.value
      tookMs.push(performance.now() - began)
    }
    const cpuAfter = await shellCpu(exec)
    if (!cpuAfter.ok) return cpuAfter
    const before = cpuBefore.value
    const after = cpuAfter.value
    const isOne = before && after && before.pid === after.pid && after.ms >= before.ms
    costs.push({
      role,
      command,
      runs,
      code: last.code,
      bytes: last.stdout.length + last.stderr.length,
      ms: median(tookMs),
      cpuMs: isOne ? (after.ms - before.ms) / runs : undefined,
      cpuStepMs: STEP_MS / runs,
    })
  }
  return ok(costs)
}
