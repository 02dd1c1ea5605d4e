/** Consoles beside each other, of data folders of their own: one enforces, another stops it or takes over. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { emulatedServers, twoServers, type EmulatedServers } from '#tests/kits/cli/emulated-servers.ts'
import { startHere, type RunningHere } from '#tests/kits/cli/in-process.ts'
import { auditTexts, json } from '#tests/kits/cli/printed.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'

/** From sample to sample, and of a controller from period to period. */
const PERIOD_MS = 500

let lab: EmulatedServers

const start = (data: string, ...args: string[]): RunningHere =>
  startHere(['--config', lab.clusterFile, '--known-hosts', lab.knownHosts, ...args], {
    env: { SSH_AUTH_SOCK: '', SLUICE_DATA: data },
  })
const control = (data: string, ...more: string[]): RunningHere =>
  start(data, 'control', 'demo', '--controller', 'static', '--mode', 'enforce', '--target', 'demo', '--json', ...more)

const HOSTS = ['oss01', 'oss02']
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const isRuling = (): boolean => /^st_/m.test(lab.rules('oss01'))
/** Rules and expiry timers of Sluice on all servers. */
const left = (): string[] =>
  HOSTS.flatMap((h) => [
    ...(lab.rules(h).match(/^(?:st|ab|pd|sl)_\S+/gm) ?? []),
    ...(lab.exec(h, 'systemctl list-units sluice-*.timer --all --no-legend --plain').stdout.match(/^sluice-\S+/gm) ??
      []),
  ])
/** For ten periods. */
async function nothingComesBack(): Promise<void> {
  for (let i = 0; i < 10; i++) {
    expect(left()).toEqual([])
    await pause(PERIOD_MS)
  }
}
async function until(is: () => boolean): Promise<void> {
  while (!is()) await pause(20)
}

describe('while one console enforces', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    lab = await emulatedServers({ scenario: twoServers('1.hog.u1'), settings: { interval_ms: PERIOD_MS } })
  })
  afterAll(() => lab?.stop())

  it('a stop from another data folder names it, removes what it has, and it leaves enforce', async () => {
    const [mine, theirs] = [tempFolder(), tempFolder()]
    const a = control(theirs)
    await until(isRuling)
    const stopped = await start(mine, 'stop', 'demo', '--json').ended
    expect([stopped.code, stopped.stderr]).toEqual([0, ''])
    const { others } = json(stopped) as { others: { host: string; console: string; lease: string }[] }
    expect(others.map((o) => o.host).toSorted()).toEqual(HOSTS)
    expect(others[0]?.console).toMatch(/^\S+@\S+$/)
    expect(others[0]?.lease).toMatch(/^sluice-lease-/)
    const ended = await a.ended
    expect(ended.code).toBe(1)
    expect(json(ended)).toMatchObject({ error: { code: 'LEASE_TAKEN' } })
    await nothingComesBack()
  })

  it('a second one is told of it and enters nothing; asked to take over it does, and both have it on record', async () => {
    const [first, second] = [tempFolder(), tempFolder()]
    const a = control(first)
    await until(isRuling)
    const refused = await control(second, '--for', '5').ended
    expect(refused.code).toBe(1)
    expect(json(refused)).toMatchObject({ error: { code: 'OTHER_CONSOLE' } })
    expect(refused.stderr).toMatch(/holds a lease on oss0\d \(sluice-lease-\S+, \d+ s left\)/)
    expect(isRuling()).toBe(true)
    const b = control(second, '--take-over')
    const ended = await a.ended
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/@\S+ took over/)
    await until(isRuling)
    b.signal('SIGTERM')
    expect(await b.ended).toMatchObject({ code: 0, stderr: '' })
    expect(left()).toEqual([])
    expect(auditTexts(first).some((t) => /^mode observe: .* took over/.test(t))).toBe(true)
    expect(auditTexts(second).some((t) => /^take over from /.test(t))).toBe(true)
  })
})
