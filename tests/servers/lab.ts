/** Consoles as processes against servers with real parts, and the actual state of those servers, bypassing SSH. For tests. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { ok } from '#core/base/result.ts'
import { isManagedName } from '#electron/enforce/managed-names.ts'
import { readTimers, type FoundTimer } from '#electron/enforce/expiry.ts'
import type { TimerKind } from '#electron/base/connection.ts'
import { scratch } from '../kits/electron/ssh/sshd.ts'
import type { Lab } from '../lab/lab.ts'

/**
 * SLUICE_LAB=full: every release, login and length. By default as much as a run of all tests has time for: each path once, with
 * the helper's login besides root where they differ.
 */
export const isFull = process.env.SLUICE_LAB === 'full'

const LAUNCHER = join(import.meta.dirname, '../../electron/cli/sluice.mjs')

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** Console as a process that ends with the process of the test. */
export interface Console {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly ended: Promise<Ended>
}

interface ClusterFile {
  clusters: { name: string; nodes: { name: string }[] }[]
}

/** Console with a separate data folder. */
export class ConsoleFolder {
  readonly data = scratch()
  readonly cluster: string
  readonly #file: string
  readonly #knownHosts: string

  /** @param host  the only server that it knows, as a separate cluster; default all servers. */
  constructor(lab: Lab, host?: string) {
    this.#knownHosts = lab.knownHosts
    this.cluster = host === undefined ? lab.cluster : `${lab.cluster}-${host}`
    this.#file = lab.clusterFile
    if (host === undefined) return
    const { clusters } = parse(readFileSync(lab.clusterFile, 'utf8')) as ClusterFile
    const narrowed = clusters.map((c) => ({ ...c, name: this.cluster, nodes: c.nodes.filter((n) => n.name === host) }))
    this.#file = join(this.data, 'clusters.yaml')
    writeFileSync(this.#file, stringify({ clusters: narrowed }))
  }

  start(...words: readonly string[]): Console {
    const flags = ['--config', this.#file, '--known-hosts', this.#knownHosts]
    const child = spawn(process.execPath, [LAUNCHER, ...flags, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, SLUICE_DATA: this.data, SSH_AUTH_SOCK: '' },
    })
    children.add(child)
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    const ended = once(child, 'close').then(([code]): Ended => {
      children.delete(child)
      return { code: code as number | null, stdout, stderr }
    })
    return { child, stdout: () => stdout, ended }
  }

  run(...words: readonly string[]): Promise<Ended> {
    return this.start(...words).ended
  }

  /** Plans one rule for these servers. @returns the id of the plan */
  async plan(
    rules: readonly { readonly name: string; readonly match: string; readonly rate: number }[],
  ): Promise<string> {
    const file = join(this.data, 'desired.yaml')
    writeFileSync(file, JSON.stringify({ rules: rules.map((r) => ({ queue: 'reg', ...r })) }))
    const planned = await this.run('rules', 'plan', this.cluster, '--desired', file, '--json')
    const id = planned.code === 0 ? (JSON.parse(planned.stdout) as { id?: unknown }).id : undefined
    if (typeof id !== 'string') throw new Error(`no plan: ${planned.stdout}${planned.stderr}`)
    return id
  }

  apply(id: string, expire: string, ...more: readonly string[]): Console {
    const words = ['rules', 'apply', id, '--target', this.cluster, '--expire', expire, '--canary', '0', '--json']
    return this.start(...words, ...more)
  }
}

const SERVICES = ['ost.OSS.ost_io', 'mds.MDS.mdt', 'mds.MDS.mdt_readpage'] as const

/** Rules on a server except the default one, of all its services: `ost.OSS.ost_io reg NAME`. */
export async function rulesOn(lab: Lab, host: string): Promise<string[]> {
  const found: string[] = []
  for (const service of SERVICES) {
    const text = await lab.rules(host, service)
    let queue = 'reg'
    for (const line of text.split('\n')) {
      if (line.startsWith('high_priority_requests')) queue = 'hp'
      const name = /^(\S+) .* \d+, ref -?\d+$/.exec(line)?.[1]
      const key = `${service} ${queue} ${name ?? ''}`
      if (name !== undefined && name !== 'default' && !found.includes(key)) found.push(key)
    }
  }
  return found
}

/** Rules of Sluice among them. */
export const ownRulesOn = async (lab: Lab, host: string, more: readonly string[] = []): Promise<string[]> =>
  (await rulesOn(lab, host)).filter((r) => {
    const name = r.split(' ')[2] ?? ''
    return isManagedName(name) || more.includes(name)
  })

/** Timers of Sluice in the server's systemd; `helper`: those that sluice-rule created. */
export async function timersOn(lab: Lab, host: string, kind: TimerKind = 'systemd'): Promise<readonly FoundTimer[]> {
  const read = await readTimers({
    host,
    roles: ['oss'],
    timers: kind,
    exec: async (line) => ok(await lab.exec(host, line)),
  })
  if (!read.ok) throw new Error(read.error.why)
  return read.value
}

/** Waits until a condition holds; the error has the last value. */
export async function until<T>(what: () => Promise<T>, holds: (found: T) => boolean, ms = 60_000): Promise<T> {
  const end = performance.now() + ms
  for (;;) {
    const found = await what()
    if (holds(found)) return found
    if (performance.now() > end) throw new Error(`it did not come: ${JSON.stringify(found)}`)
    await new Promise((done) => setTimeout(done, 50))
  }
}
