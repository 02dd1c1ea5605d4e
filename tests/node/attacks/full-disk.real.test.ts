/** A data folder on a disk that is full or read-only: the console starts, samples and stops; nothing new is enforced. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openHost } from '#electron/host/host.ts'
import { EnforcementStore, storeFile } from '#electron/enforce/store.ts'
import { noSshd } from '../../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../../lab/lab.ts'
import { liveConsole, type LiveConsole } from '../live-console.ts'
import { tempFolder } from '../temp-folder.ts'

const LAUNCHER = join(import.meta.dirname, '../../../electron/cli/sluice.mjs')
const CAP = 'start cap jobid={4690*} rate=25'
const waits = { timeout: 60_000, interval: 100 }

const mount = (folder: string, ...options: string[]): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', options.join(','), 'tmpfs', folder]).status === 0

/** Reason why no small disk can be created here; empty if possible. On a machine of the project it must be possible. */
const noDisk = ((): string => {
  const folder = join(tempFolder(), 'try')
  mkdirSync(folder)
  if (!mount(folder, 'size=64k')) {
    if (process.env['CI'] === 'true') throw new Error('only root can mount a small disk')
    return 'only root can mount a small disk'
  }
  execFileSync('umount', [folder])
  return ''
})()

let disk: string
beforeEach(() => {
  disk = join(tempFolder(), 'disk')
  mkdirSync(disk)
  if (noDisk === '') mount(disk, 'size=8m', 'mode=0700')
})
afterEach(() => {
  if (noDisk === '') execFileSync('umount', ['-l', disk])
})

/** Allocates the last free page. */
function fill(): void {
  const free = statfsSync(disk)
  for (let bytes = free.bavail * free.bsize; bytes > 0; bytes = Math.floor(bytes / 2)) {
    spawnSync('dd', [
      'if=/dev/zero',
      `of=${join(disk, `filler-${bytes}`)}`,
      'bs=4096',
      `count=${Math.ceil(bytes / 4096)}`,
    ])
  }
  expect(statfsSync(disk).bavail).toBe(0)
}
const clear = (): void => void execFileSync('sh', ['-c', 'rm -f "$0"/filler-*', disk])
const remount = (how: 'ro' | 'rw'): void => void execFileSync('mount', ['-o', `remount,${how}`, disk])

let streams = 0
async function noticesOf(client: LiveConsole['client']): Promise<string[]> {
  for await (const f of await client.source.status({ stream: `f${++streams}` })) return f.notices.map((n) => n.code)
  throw new Error('no frame')
}

describe.skipIf(noDisk !== '')('a console that starts', () => {
  it.each([
    'on a full disk',
    'on a full disk that has its files',
    'on a read-only disk',
    'on a read-only disk that has its files',
  ])('%s samples, says that nothing is kept, and closes', async (how) => {
    const historyFile = join(disk, 'history.sqlite')
    const open = async () => {
      const opened = await openHost({ shell: 'browser', historyFile, paced: false })
      if (!opened.ok) throw new Error(`${opened.error.code}: ${opened.error.why}`)
      return opened.value
    }
    if (how.endsWith('files')) await (await open()).close()
    if (how.includes('full')) fill()
    else remount('ro')
    const host = await open()
    try {
      const client = createRouterClient(host.router, { context: { peer: 'test' } })
      await host.source.runTo(3e9, (atNs) => host.monitor.tick(atNs))
      expect(host.monitor.sample).toBeGreaterThan(1)
      expect(host.monitor.jobs.size).toBeGreaterThan(0)
      // An existing history may still be read and written as far as possible: a failure is reported when it occurs.
      const codes = await noticesOf(client)
      if (!how.endsWith('files') || how.includes('read-only')) {
        expect(codes).toContain('HISTORY_OFF')
        expect(host.notices.map((n) => n.code)).toContain('HISTORY_OFF')
      }
    } finally {
      await host.close()
    }
  })
})

describe.skipIf(noDisk !== '' || noSshd !== '')('a rule on a server over SSH', () => {
  let lab: Lab
  let live: LiveConsole | undefined
  beforeAll(async () => {
    lab = await startLab({ servers: ['oss01'] })
  })
  afterEach(async () => {
    await live?.close()
    live = undefined
    await lab.exec('oss01', "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='stop cap'")
    for (const unit of await lab.timers('oss01')) await lab.exec('oss01', `systemctl stop ${unit}`)
  })
  afterAll(async () => lab?.stop())

  const isActive = async (): Promise<boolean> => /^cap /m.test(await lab.rules('oss01'))
  const open = async (): Promise<LiveConsole> => {
    live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts, dataDir: disk })
    await live.show()
    return live
  }
  const begin = async (): Promise<void> => {
    const { enforce, stage, commit } = await open()
    await enforce()
    await stage(CAP, 3600)
    expect(await commit()).toEqual(['oss01 done'])
    expect(await isActive()).toBe(true)
  }
  /** Audit records of the removal, and the integrity of the audit. */
  const recorded = (): { texts: string[]; bad: unknown } => {
    const opened = EnforcementStore.openForReading(storeFile(disk))
    if (!opened.ok) throw new Error(opened.error.why)
    try {
      const texts = [...opened.value.chain.each()].map((r) => r.text)
      return { texts: texts.filter((t) => t.includes('written later')), bad: opened.value.verify().bad }
    } finally {
      opened.value.close()
    }
  }

  it('exploit: is removed though the disk is full; nothing new is sent, and the record follows when there is room', async () => {
    await begin()
    const { client, stage, commit } = live as LiveConsole
    fill()
    await stage('start other jobid={4691*} rate=25', 600)
    expect((await commit())[0]).toMatch(/^NOT_ON_RECORD: .*full/)
    expect(await lab.rules('oss01')).not.toMatch(/^other /m)
    const stopped = await client.source.stopAll()
    expect(await isActive()).toBe(false)
    expect(stopped).toMatchObject({ removed: 2 })
    expect(await noticesOf(client)).toContain('AUDIT_WAITS')
    clear()
    await expect.poll(() => noticesOf(client), waits).not.toContain('AUDIT_WAITS')
    const { texts, bad } = recorded()
    expect(texts.some((t) => t.includes('stop cap'))).toBe(true)
    expect(bad).toBeUndefined()
  })

  it('exploit: is removed by a console that started on a read-only disk', async () => {
    await begin()
    await live?.close()
    remount('ro')
    const { client, host, stage, commit } = await open()
    expect(host.notices.map((n) => n.code)).toEqual(['STORE_UNREADABLE'])
    await stage('start other jobid={4691*} rate=25', 600)
    expect((await commit())[0]).toMatch(/^STORE_UNREADABLE/)
    expect(await noticesOf(client)).toContain('STORE_UNREADABLE')
    expect((await client.source.stopAll()).removed).toBe(2)
    expect(await isActive()).toBe(false)
    expect(await noticesOf(client)).toContain('AUDIT_WAITS')
    remount('rw')
    await expect.poll(() => noticesOf(client), waits).not.toContain('AUDIT_WAITS')
    expect(recorded().texts.some((t) => t.includes('stop cap'))).toBe(true)
  })

  it('exploit: is removed by `sluice stop` with a full data folder, which says what is not on record', async () => {
    await begin()
    await live?.close()
    fill()
    const args = ['--config', lab.clusterFile, '--known-hosts', lab.knownHosts, 'stop', lab.cluster]
    const ran = spawnSync(process.execPath, [LAUNCHER, ...args], {
      encoding: 'utf8',
      cwd: tempFolder(),
      env: { ...process.env, SLUICE_DATA: disk, SSH_AUTH_SOCK: '' },
    })
    expect(ran.stderr).toMatch(/Save these records:\n(?:.*\n)*.* oss01 intent .*stop cap/)
    // It reports that other processes may not have been notified.
    expect([ran.status, ran.stdout]).toEqual([
      6,
      expect.stringMatching(/oss01: unknown, .*not recorded yet.*could not be recorded for other processes/) as string,
    ])
    expect(await isActive()).toBe(false)
  })
})
