/** Real Slurm on loopback, in a private folder: munged, slurmctld, and a slurmd for each of four nodes. Requires root. */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, scratch } from '../kits/electron/ssh/sshd.ts'

const run = promisify(execFile)
const PROGRAMS = ['munged', 'slurmctld', 'slurmd', 'squeue', 'sbatch', 'scontrol']
const NODES = ['n1', 'n2', 'n3', 'n4'] as const
const START_MS = 20_000

const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/bin']
const missing = PROGRAMS.filter((p) => !folders.some((f) => existsSync(join(f, p))))

function why(): string {
  if (process.platform !== 'linux') return 'Slurm runs on Linux'
  if (process.getuid?.() !== 0) return 'slurmd starts jobs as root only'
  if (missing.length === 0) return ''
  return `${missing.join(', ')}: not installed (slurmctld slurmd slurm-client munge)`
}

/** Reason why there is no Slurm. It is an optional part: output of other releases is recorded in the tests of its parsers. */
export const noSlurm = why()
if (noSlurm !== '') process.stderr.write(`skipped, no Slurm: ${noSlurm}\n`)

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

export interface RealSlurm {
  /** Environment of a login that uses it. */
  readonly env: Readonly<Record<string, string>>
  /** Runs one of its commands. */
  run(program: string, ...args: string[]): Promise<string>
  /** Submits a job that sleeps. @returns its id */
  submit(options: { readonly nodes: number; readonly name: string; readonly seconds?: number }): Promise<string>
  stop(): Promise<void>
}

export async function startSlurm(): Promise<RealSlurm> {
  const folder = scratch()
  const at = (name: string): string => join(folder, name)
  const socket = at('munge.sock')
  const controller = await freePort()
  const first = await freePort()
  const ports = [first]
  while (ports.length < NODES.length) {
    const port = await freePort()
    if (!ports.includes(port) && port !== controller) ports.push(port)
  }
  for (const name of ['state', 'spool', 'jobs']) mkdirSync(at(name))
  writeFileSync(at('munge.key'), randomBytes(1024), { mode: 0o600 })
  const config = [
    'ClusterName=loopback',
    'SlurmctldHost=localhost(127.0.0.1)',
    'SlurmUser=root',
    'SlurmdUser=root',
    `SlurmctldPort=${controller}`,
    'AuthType=auth/munge',
    'CryptoType=crypto/munge',
    `AuthInfo=socket=${socket}`,
    `StateSaveLocation=${at('state')}`,
    `SlurmdSpoolDir=${at('spool')}/%n`,
    `SlurmctldPidFile=${at('slurmctld.pid')}`,
    `SlurmdPidFile=${at('slurmd')}.%n.pid`,
    'ProctrackType=proctrack/linuxproc',
    'TaskPlugin=task/none',
    'SelectType=select/linear',
    'SwitchType=switch/none',
    'AccountingStorageType=accounting_storage/none',
    'JobAcctGatherType=jobacct_gather/none',
    'MpiDefault=none',
    // A node that comes up is used at once.
    'ReturnToService=2',
    'SchedulerParameters=sched_interval=1',
    'SlurmctldParameters=idle_on_node_suspend',
    ...NODES.map((n, i) => `NodeName=${n} NodeHostname=localhost NodeAddr=127.0.0.1 Port=${ports[i]} CPUs=1`),
    'PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP',
  ]
  writeFileSync(at('slurm.conf'), `${config.join('\n')}\n`)
  chmodSync(folder, 0o755)
  const env = { SLURM_CONF: at('slurm.conf') }
  const all = { ...process.env, ...env, PATH: folders.join(delimiter) }
  let said = ''
  const daemon = (program: string, ...args: string[]): ChildProcess => {
    const child = spawn(program, args, { env: all, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const s of [child.stdout, child.stderr])
      s.on('data', (t: Buffer) => (said = (said + t.toString()).slice(-4000)))
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  }
  const until = async (is: () => boolean | Promise<boolean>): Promise<void> => {
    for (const end = performance.now() + START_MS; !(await is());) {
      if (performance.now() > end) throw new Error(`Slurm did not start: ${said}`)
      await new Promise((done) => setTimeout(done, 100))
    }
  }
  const ask = async (program: string, ...args: string[]): Promise<string> =>
    (await run(program, args, { env: all, cwd: at('jobs'), encoding: 'latin1', maxBuffer: 1 << 24 })).stdout
  const files = [`--key-file=${at('munge.key')}`, `--socket=${socket}`, `--pid-file=${at('munged.pid')}`]
  const munged = ['--foreground', '--force', ...files, `--log-file=${at('munged.log')}`, `--seed-file=${at('seed')}`]
  const daemons = [daemon('munged', ...munged)]
  await until(() => existsSync(socket))
  daemons.push(daemon('slurmctld', '-D', '-f', env.SLURM_CONF))
  for (const n of NODES) daemons.push(daemon('slurmd', '-D', '-N', n, '-f', env.SLURM_CONF))
  await until(async () => /^4$/m.test(await ask('sinfo', '-h', '-t', 'idle', '-o', '%D').catch(() => '')))
  return {
    env,
    run: ask,
    submit: async ({ nodes, name, seconds = 300 }) => {
      const args = ['--parsable', '-N', String(nodes), `--job-name=${name}`, '-o', '/dev/null']
      return (await ask('sbatch', ...args, '--wrap', `exec sleep ${seconds}`)).trim()
    },
    stop: async () => {
      await ask('scancel', '--signal=KILL', '--full', '-u', 'root').catch(() => '')
      await ask('scancel', '-u', 'root').catch(() => '')
      await until(async () => (await ask('squeue', '-h').catch(() => '')) === '').catch(() => undefined)
      for (const child of daemons.reverse()) {
        if (child.exitCode !== null) continue
        const ended = new Promise((done) => child.once('exit', done))
        child.kill('SIGTERM')
        const late = setTimeout(() => child.kill('SIGKILL'), 3000)
        await ended
        clearTimeout(late)
      }
    },
  }
}
