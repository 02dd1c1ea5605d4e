/**
 * Two consoles with separate data folders on the same servers, for SLUICE_ENDURANCE_MINUTES: each enforces, is stopped by the
 * other, taken over, interrupted, killed with -9, frozen, or loses its connections, at random instants. At no time a rule without
 * a timer, none past its expiry, none after a stop that was reported done, and no audit record lost.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { storeFile } from '#electron/enforce/store.ts'
import { auditTexts } from '#tests/kits/cli/printed.ts'
import { scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { noServers } from '../lab/nspawn.ts'
import { ConsoleFolder, ownRulesOn, timersOn, type Console } from './lab.ts'

const MINUTES = Number(process.env.SLUICE_ENDURANCE_MINUTES ?? 0)
/** Logs each action on standard error, to find the cause of a fault. */
const IS_TOLD = process.env.SLUICE_ENDURANCE_TOLD === '1'
const HOSTS = ['oss01', 'oss02']
const SCENARIO = stringify({
  title: 'Endurance',
  cluster: 'endurance',
  clients: { count: 2 },
  control: { max_rate: 200, mode: 'observe' },
  oss: HOSTS.map((name, i) => ({ name, osts: [{ name: `endurance-OST000${i}`, disk: { bandwidth_mb_s: 20 } }] })),
  jobs: [1, 2].map((n) => ({
    id: `${n}.hog.u100${n}`,
    clients: [n],
    op: 'write',
    size_kib: 64,
    total_rpcs: 100_000_000,
    pattern: { kind: 'continuous' },
  })),
})
/** A timer that is due by then has fired: its accuracy is a second. */
const GRACE_MS = 5_000
const LOOK_MS = 400
/** Rule of the commits. */
const COMMITTED = 'sl_night'

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))
const pick = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)] as T

/** One of the two consoles, with the actions on it. */
class Operator {
  readonly folder: ConsoleFolder
  running: Console | undefined
  records = 0
  lost: string[] = []

  constructor(lab: Lab) {
    this.folder = new ConsoleFolder(lab)
  }

  /** @param begun  called when its first period was decided */
  enforce(begun: () => void, ...more: readonly string[]): void {
    if (this.running) return
    const { cluster } = this.folder
    const words = ['control', cluster, '--controller', 'static', '--mode', 'enforce', '--target', cluster]
    const console = this.folder.start(...words, '--json', ...more)
    this.running = console
    console.child.stdout?.once('data', begun)
    void console.ended.then(() => {
      if (this.running === console) this.running = undefined
    })
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.running?.child.kill(signal)
    await this.running?.ended
  }

  /** Checks that its audit is intact, and has all earlier records. */
  look(): void {
    // Before its first console there is none.
    if (this.records === 0 && !existsSync(storeFile(this.folder.data))) return
    try {
      const { length } = auditTexts(this.folder.data)
      if (length < this.records) this.lost.push(`${this.records - length} records are gone`)
      this.records = Math.max(this.records, length)
    } catch (e) {
      this.lost.push(e instanceof Error ? e.message : String(e))
    }
  }
}

describe.skipIf(noServers !== '' || MINUTES <= 0)('two consoles on the same servers, for long', () => {
  let lab: Lab
  beforeAll(async () => {
    const scenario = join(scratch(), 'endurance.yaml')
    writeFileSync(scenario, SCENARIO)
    lab = await startLab({ parts: 'nspawn', scenario, servers: HOSTS, login: 'root' })
  })
  afterAll(async () => lab?.stop())

  it('hold what the enforcement model says', { timeout: MINUTES * 60_000 + 300_000 }, async () => {
    const operators = [new Operator(lab), new Operator(lab)]
    const faults: string[] = []
    const done = new Map<string, number>()
    const endMs = performance.now() + MINUTES * 60_000
    let isOver = false
    /** True after a stop was reported done, if no rule was requested since it began. */
    let stopped = false
    let asks = 0
    const ask = (): void => {
      asks++
      stopped = false
    }
    const say = (text: string): void => void process.stderr.write(`${new Date().toISOString()} ${text}\n`)
    const fault = (text: string): void => {
      faults.push(text)
      say(text)
    }

    const bareSince = new Map<string, number>()
    /** Timers of commits seen so far. */
    const commits = new Set<string>()
    const look = async (host: string): Promise<void> => {
      const wasStopped = stopped
      const rules = await ownRulesOn(lab, host)
      const timers = await timersOn(lab, host)
      for (const { unit, stops } of timers) {
        // A request before a stop that reached the servers after it was no part of it.
        if (commits.has(unit) || !stops.some((s) => s.name === COMMITTED)) continue
        commits.add(unit)
        ask()
      }
      const still = new Set(await ownRulesOn(lab, host))
      const now = performance.now()
      for (const rule of rules.filter((r) => still.has(r))) {
        const [service = '', , name = ''] = rule.split(' ')
        const key = `${host}: ${rule}`
        const isCovered = timers.some((t) =>
          t.stops.some((s) => s.parameter === `${service}.nrs_tbf_rule` && s.name === name),
        )
        if (isCovered) bareSince.delete(key)
        // A timer that fires stops its rules one after another.
        else if (!bareSince.has(key)) {
          bareSince.set(key, now)
          if (IS_TOLD) say(`${key} is bare; timers: ${timers.map((t) => t.unit).join(' ')}`)
        } else if (now - (bareSince.get(key) ?? now) > GRACE_MS) fault(`${key} has no timer`)
        if (wasStopped && stopped) fault(`${key} after a stop that was reported done`)
      }
      for (const key of bareSince.keys())
        if (key.startsWith(`${host}: `) && !still.has(key.slice(host.length + 2))) bareSince.delete(key)
    }
    const looks = { done: 0, failed: 0 }
    const watch = async (host: string): Promise<void> => {
      while (!isOver) {
        const why = await look(host).then(
          () => '',
          (e: unknown) => String(e),
        )
        looks.done++
        if (why !== '') {
          looks.failed++
          say(`${host} could not be read: ${why}`)
        }
        await pause(LOOK_MS)
      }
    }
    const counts = (): string => JSON.stringify({ minutes: MINUTES, looks, done: Object.fromEntries(done) })
    const progress = setInterval(() => process.stderr.write(`${counts()}\n`), 300_000)

    const frozen = new Set<string>()
    const deeds: Readonly<Record<string, (o: Operator) => Promise<unknown>>> = {
      enforce: async (o) => {
        ask()
        o.enforce(ask)
        await pause(15_000 * Math.random())
      },
      'take over': async (o) => {
        ask()
        o.enforce(ask, '--take-over')
        await pause(15_000 * Math.random())
      },
      kill: (o) => o.end('SIGKILL'),
      interrupt: (o) => o.end('SIGINT'),
      stop: async (o) => {
        const before = asks
        const ended = await o.folder.run('stop', o.folder.cluster, '--json')
        // A rule requested meanwhile may come after it.
        if (ended.code === 0 && asks === before) stopped = true
      },
      'lose connections': async () => {
        const host = pick(HOSTS)
        if (!frozen.has(host)) lab.node(host).sshd.killSessions()
      },
      freeze: async () => {
        const host = pick(HOSTS)
        if (frozen.has(host)) return
        frozen.add(host)
        lab.node(host).sshd.stall(true)
        // A check of the server waits as long, and gives up after 30 s.
        await pause(1_000 + 20_000 * Math.random())
        // Nothing could stop a rule meanwhile: the time limit starts again now.
        for (const key of bareSince.keys()) if (key.startsWith(`${host}: `)) bareSince.delete(key)
        lab.node(host).sshd.stall(false)
        frozen.delete(host)
      },
      commit: async (o) => {
        const id = await o.folder.plan([{ name: COMMITTED, match: 'jobid={2.hog.u1002}', rate: 40 }]).catch(() => '')
        if (id === '') return
        ask()
        await o.folder.apply(id, '20s').ended
      },
    }

    const act = async (o: Operator): Promise<void> => {
      while (performance.now() < endMs) {
        const what = pick(Object.keys(deeds))
        if (IS_TOLD) say(`${operators.indexOf(o)} ${what} ...`)
        await deeds[what]?.(o)
        if (IS_TOLD) say(`${operators.indexOf(o)} ${what}`)
        done.set(what, (done.get(what) ?? 0) + 1)
        o.look()
      }
    }
    const watching = HOSTS.map(watch)
    await Promise.all(operators.map(act))
    for (const o of operators) await o.end('SIGKILL')
    // Every lease and every rule has ended.
    await pause(60_000 + 2 * GRACE_MS)
    isOver = true
    await Promise.all(watching)
    for (const host of HOSTS) {
      expect(await ownRulesOn(lab, host)).toEqual([])
      expect(await lab.timers(host)).toEqual([])
    }
    for (const o of operators) o.look()
    clearInterval(progress)
    process.stderr.write(`${counts()}\n`)
    // Without observations nothing is proved.
    expect(looks.done).toBeGreaterThan(MINUTES * 30)
    expect(looks.failed).toBeLessThanOrEqual(looks.done / 100)
    expect({ faults, lost: operators.flatMap((o) => o.lost) }).toEqual({ faults: [], lost: [] })
    expect(Math.min(...operators.map((o) => o.records))).toBeGreaterThan(0)
  })
})
