/**
 * Lab of the control period: servers with real parts (nspawn.ts) whose parameters are files of a tmpfs at the paths that sluice-read
 * reads. A feeder rewrites job_stats, stats and timeouts (feeder.c); rules and policies are those of the emulator, which their
 * lctl writes to files (lctl.c).
 */
import { execFileSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { scratch } from '../../kits/electron/ssh/sshd.ts'
import { startLab, type Lab, type LabOptions } from '../lab.ts'

/** Folder of the parameters on a server, and of the programs of the lab. */
export const TREE = '/sys/kernel/debug/lustre'
export const PROGRAMS = '/srv/shared'

export interface PeriodLabOptions extends Pick<LabOptions, 'login' | 'sudo' | 'settings'> {
  readonly servers: number
  readonly targets: number
  /** Folder that servers have as PROGRAMS/extra. */
  readonly extra?: string
}

/** Contents and changes of job_stats. */
export interface Feed {
  readonly jobs: number
  readonly targets: number
  /** Jobs of a target that change in one step. */
  readonly changed: number
  /** Steps per second. */
  readonly hz: number
}

/** Own cost of a feeder. */
export interface FeedCost {
  readonly steps: number
  readonly cpuNs: number
  /** Steps that began later than a whole step. */
  readonly late: number
}

export interface PeriodLab {
  readonly lab: Lab
  readonly hosts: readonly string[]
  /** Runs a command line as root on a server; fails with its message. */
  run(host: string, line: string): Promise<string>
  /** Starts the feeder of a server, in place of the one that runs. */
  feed(host: string, feed: Feed): Promise<void>
  /** Ends the feeder of a server. */
  endFeed(host: string): Promise<FeedCost>
  stop(): Promise<void>
}

function buildPrograms(extra: string | undefined): string {
  const folder = scratch()
  if (extra !== undefined) cpSync(extra, join(folder, 'extra'), { recursive: true })
  for (const name of ['feeder', 'plain-reader', 'lctl']) {
    const source = join(import.meta.dirname, `${name}.c`)
    const flags = ['-O2', '-std=gnu11', '-Wall', '-Wextra', '-Werror', '-static']
    execFileSync('cc', [...flags, '-o', join(folder, name), source], { stdio: 'inherit' })
  }
  return folder
}

const hostOf = (i: number): string => `oss${String(i + 1).padStart(2, '0')}`
const hex = (n: number): string => n.toString(16).padStart(4, '0')

/** Scenario of the emulator, which has the rules of the servers only. */
const scenarioOf = ({ servers, targets }: PeriodLabOptions): string =>
  stringify({
    title: 'Period',
    cluster: 'period',
    clients: { count: 1 },
    control: { max_rate: 2000, mode: 'observe' },
    oss: Array.from({ length: servers }, (_, i) => ({
      name: hostOf(i),
      osts: Array.from({ length: targets }, (__, t) => ({
        name: `period-OST${hex(i * targets + t)}`,
        disk: { bandwidth_mb_s: 20 },
      })),
    })),
    jobs: [
      { id: '1.idle.u1', clients: [1], op: 'write', size_kib: 64, total_rpcs: 1, pattern: { kind: 'continuous' } },
    ],
  })

const SETUP = [
  'set -e',
  'mount -t tmpfs -o mode=0700 tmpfs /sys/kernel/debug',
  `mkdir -p ${TREE}/ost/OSS/ost_io /usr/lib/emulated`,
  'mv /usr/sbin/lctl /usr/lib/emulated/lctl',
  `install -m 0755 ${PROGRAMS}/lctl /usr/sbin/lctl`,
  `cd ${TREE}`,
  'lctl dl >devices',
  '/usr/lib/emulated/lctl get_param -n ost.OSS.ost_io.nrs_policies >policies',
  'mv policies ost/OSS/ost_io/nrs_policies',
].join('\n')

export async function startPeriodLab(o: PeriodLabOptions): Promise<PeriodLab> {
  const scenario = join(scratch(), 'period.yaml')
  writeFileSync(scenario, scenarioOf(o))
  const hosts = Array.from({ length: o.servers }, (_, i) => hostOf(i))
  const { login, sudo, settings } = o
  const more = { ...(login && { login }), ...(sudo && { sudo }), ...(settings && { settings }) }
  const lab = await startLab({ parts: 'nspawn', scenario, servers: hosts, shared: buildPrograms(o.extra), ...more })
  const run = async (host: string, line: string): Promise<string> => {
    const ran = await lab.exec(host, line)
    if (ran.code !== 0) throw new Error(`${host}: ${line.slice(0, 200)}: ${ran.stderr}`)
    return ran.stdout
  }
  const endFeed = async (host: string): Promise<FeedCost> => {
    const text = await run(host, 'systemctl stop feeder.service; cat /run/feeder; rm -f /run/feeder')
    const [, steps, cpuNs, late] = /^steps (\d+) cpu_ns (\d+) late (\d+)$/m.exec(text) ?? []
    return { steps: Number(steps), cpuNs: Number(cpuNs), late: Number(late) }
  }
  for (const host of hosts) await run(host, SETUP)
  return {
    lab,
    hosts,
    run,
    endFeed,
    feed: async (host, { jobs, targets, changed, hz }) => {
      await lab.exec(host, 'systemctl stop feeder.service')
      const words = [TREE, jobs, targets, changed, hz, hosts.indexOf(host) + 1].join(' ')
      const unit = 'systemd-run --quiet --unit=feeder --collect -p StandardOutput=truncate:/run/feeder'
      await run(
        host,
        `rm -rf ${TREE}/obdfilter; ${unit} ${PROGRAMS}/feeder ${words}; until grep -q ready /run/feeder; do sleep 0.05; done`,
      )
    },
    stop: () => lab.stop(),
  }
}
