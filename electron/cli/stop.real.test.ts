/** Concurrent processes over real SSH with one data folder: one enforces, another stops. */
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { killAll, startProcess, type RunningProcess } from '#tests/kits/cli/process.ts'
import { twoServers } from '#tests/kits/cli/emulated-servers.ts'
import { startLab, type Lab } from '../../tests/lab/lab.ts'
import { auditTexts, json } from '#tests/kits/cli/printed.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { noSshd } from '#tests/kits/electron/ssh/sshd.ts'

let lab: Lab

function start(data: string, ...args: string[]): RunningProcess {
  const all = ['--config', lab.clusterFile, '--known-hosts', lab.knownHosts, ...args]
  const run = startProcess(all, { SSH_AUTH_SOCK: '', SLUICE_DATA: data })
  run.child.stdin.end()
  return run
}
const control = (data: string, ...more: string[]): RunningProcess =>
  start(data, 'control', 'demo', '--controller', 'static', '--mode', 'enforce', '--target', 'demo', '--json', ...more)

const HOSTS = ['oss01', 'oss02']
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const isRuling = async (): Promise<boolean> => /^st_/m.test(await lab.rules('oss01'))
/** Rules and expiry timers of Sluice on all servers. */
async function left(): Promise<string[]> {
  const found = await Promise.all(
    HOSTS.map(async (h) => {
      const timers = await lab.exec(h, 'systemctl list-units sluice-*.timer --all --no-legend --plain')
      return [
        ...((await lab.rules(h)).match(/^(?:st|ab|pd|sl)_\S+/gm) ?? []),
        ...(timers.stdout.match(/^sluice-\S+/gm) ?? []),
      ]
    }),
  )
  return found.flat()
}
async function until(is: () => Promise<boolean>): Promise<void> {
  while (!(await is())) await pause(100)
}

describe.skipIf(noSshd !== '')('while one process enforces', { timeout: 180_000 }, () => {
  beforeAll(async () => {
    lab = await startLab({ scenario: twoServers('1.hog.u1') })
  })
  afterAll(async () => {
    killAll()
    await lab?.stop()
  })

  it('a stop by another of the same data folder ends it: it says who, ends with a code, and nothing comes back', async () => {
    const data = tempFolder()
    const a = control(data)
    await until(isRuling)
    const stopped = await start(data, 'stop', 'demo', '--json').ended
    expect([stopped.code, stopped.stderr]).toEqual([0, ''])
    expect(json(stopped)).toMatchObject({ cluster: 'demo', state: 'stopped', others: [] })
    for (let i = 0; i < 10; i++) {
      expect(await left()).toEqual([])
      await pause(1000)
    }
    const ended = await a.ended
    expect(ended.code).not.toBe(0)
    expect(ended.stderr).toMatch(/stopped it at \d{4}-.*\(process \d+\)/)
    expect(json(ended)).toMatchObject({ error: { code: 'STOPPED' } })
    expect(auditTexts(data).some((t) => /^mode observe: .* stopped it at/.test(t))).toBe(true)
  })

  it('a controller that gets no lease leaves nothing behind and ends with a code that is not 0; Ctrl-C ends it at once', async () => {
    const broken = await startLab({
      servers: ['oss01'],
      // A list that omits pending timers.
      programs: { systemctl: 'case $1 in show) exit 0 ;; *) PATH=${PATH#*:} exec systemctl "$@" ;; esac' },
    })
    const was = lab
    lab = broken
    try {
      const ended = await control(tempFolder(), '--for', '20').ended
      expect(ended.code).toBe(1)
      const timers = await broken.exec('oss01', 'systemctl list-units sluice-*.timer --all --no-legend --plain')
      expect(timers.stdout).toBe('')
      const a = control(tempFolder(), '--for', '3600')
      await once(a.child.stdout, 'data')
      a.child.kill('SIGINT')
      expect((await a.ended).code).not.toBeNull()
    } finally {
      lab = was
      await broken.stop()
    }
  })
})
