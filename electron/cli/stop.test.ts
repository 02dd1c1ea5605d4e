/** Concurrent consoles, each with its own data folder: one enforces, another stops it or takes over. */
import { describe, expect, it } from 'vitest'
import { emulatedServers, twoServers, type EmulatedServers } from '#tests/kits/cli/emulated-servers.ts'
import { startSluice, type RunningHere } from '#tests/kits/cli/in-process.ts'
import { auditTexts, json } from '#tests/kits/cli/printed.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'

/** Sampling interval, and observation period of the controller. */
const PERIOD_MS = 500

const HOSTS = ['oss01', 'oss02']
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Two servers per test, so that tests run in parallel. */
class Lab {
  readonly #servers: EmulatedServers

  private constructor(servers: EmulatedServers) {
    this.#servers = servers
  }

  static async open(): Promise<Lab> {
    const scenario = twoServers('1.hog.u1')
    return new Lab(await emulatedServers({ scenario, settings: { interval_ms: PERIOD_MS } }))
  }

  stop(): Promise<void> {
    return this.#servers.stop()
  }

  start(data: string, ...args: string[]): RunningHere {
    const { clusterFile, knownHosts } = this.#servers
    return startSluice(['--config', clusterFile, '--known-hosts', knownHosts, ...args], {
      env: { SSH_AUTH_SOCK: '', SLUICE_DATA: data },
    })
  }

  control(data: string, ...more: string[]): RunningHere {
    const enforce = ['--controller', 'static', '--mode', 'enforce', '--target', 'demo']
    return this.start(data, 'control', 'demo', ...enforce, '--json', ...more)
  }

  get isRuling(): boolean {
    return /^st_/m.test(this.#servers.rules('oss01'))
  }

  async ruling(): Promise<void> {
    while (!this.isRuling) await pause(20)
  }

  /** Rules and expiry timers of Sluice on all servers. */
  left(): string[] {
    const timers = 'systemctl list-units sluice-*.timer --all --no-legend --plain'
    return HOSTS.flatMap((h) => [
      ...(this.#servers.rules(h).match(/^(?:st|ab|pd|sl)_\S+/gm) ?? []),
      ...(this.#servers.exec(h, timers).stdout.match(/^sluice-\S+/gm) ?? []),
    ])
  }

  /** Watches for ten periods. */
  async nothingComesBack(): Promise<void> {
    for (let i = 0; i < 10; i++) {
      expect(this.left()).toEqual([])
      await pause(PERIOD_MS)
    }
  }
}

describe.concurrent('while one console enforces', { timeout: 120_000 }, () => {
  it('a stop from another data folder names it, removes what it has, and it leaves enforce', async ({
    onTestFinished,
  }) => {
    const lab = await Lab.open()
    onTestFinished(() => lab.stop())
    const mine = tempFolder()
    const theirs = tempFolder()
    const a = lab.control(theirs)
    await lab.ruling()
    const stopped = await lab.start(mine, 'stop', 'demo', '--json').ended
    expect([stopped.code, stopped.stderr]).toEqual([0, ''])
    const { others } = json(stopped) as { others: { host: string; console: string; lease: string }[] }
    expect(others.map((o) => o.host).toSorted()).toEqual(HOSTS)
    expect(others[0]?.console).toMatch(/^\S+@\S+$/)
    expect(others[0]?.lease).toMatch(/^sluice-lease-/)
    const ended = await a.ended
    expect(ended.code).toBe(1)
    expect(json(ended)).toMatchObject({ error: { code: 'LEASE_TAKEN' } })
    await lab.nothingComesBack()
  })

  it('a second one is told of it and enters nothing; asked to take over it does, and both have it on record', async ({
    onTestFinished,
  }) => {
    const lab = await Lab.open()
    onTestFinished(() => lab.stop())
    const first = tempFolder()
    const second = tempFolder()
    const a = lab.control(first)
    await lab.ruling()
    const refused = await lab.control(second, '--for', '5').ended
    expect(refused.code).toBe(1)
    expect(json(refused)).toMatchObject({ error: { code: 'OTHER_CONSOLE' } })
    expect(refused.stderr).toMatch(/holds a lease on oss0\d \(sluice-lease-\S+, \d+ s left\)/)
    expect(lab.isRuling).toBe(true)
    const b = lab.control(second, '--take-over')
    const ended = await a.ended
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/@\S+ took over/)
    await lab.ruling()
    b.signal('SIGTERM')
    expect(await b.ended).toMatchObject({ code: 0, stderr: '' })
    expect(lab.left()).toEqual([])
    expect(auditTexts(first).some((t) => /^mode observe: .* took over/.test(t))).toBe(true)
    expect(auditTexts(second).some((t) => /^take over from /.test(t))).toBe(true)
  })
})
