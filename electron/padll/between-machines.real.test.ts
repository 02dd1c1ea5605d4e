/** Both controllers as processes over a port: with a key, with certificates, and refused without. */
import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { padllStatus } from '#core/padll/status.ts'
import { shortFolder } from '#tests/kits/electron/padll/scripted-controller.ts'
import { Authority, noOpenssl } from '#tests/kits/electron/wire/certificates.ts'

const LAUNCHER = join(import.meta.dirname, '../cli/sluice.mjs')
const LONG = { timeout: 60_000 }

let folder: string
let children: ChildProcess[] = []
beforeEach(() => void (folder = shortFolder()))
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children = []
})

/** @param machine  its folder, shared by the processes of one machine. */
function sluice(machine: string, ...args: string[]) {
  const env = { ...process.env, SLUICE_PADLL: join(folder, machine) }
  const child = spawn(process.execPath, [LAUNCHER, 'padll', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  const output = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (t: string) => (output.out += t))
  child.stderr.setEncoding('utf8').on('data', (t: string) => (output.err += t))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { output, ended }
}

async function global(...flags: string[]): Promise<{ at: string; output: { err: string } }> {
  const { output } = sluice('one', 'global', '--listen', '127.0.0.1:0', ...flags)
  const found = (): string | undefined => /local controllers at (\S+)$/m.exec(output.out)?.[1]
  await expect.poll(found, LONG).toBeDefined()
  return { at: found() ?? '', output }
}

async function locals(): Promise<string[]> {
  const { output, ended } = sluice('one', 'status')
  await ended
  return padllStatus.parse(JSON.parse(output.out) as unknown).locals.map(({ id }) => id)
}

async function newKey(name: string): Promise<string> {
  const file = join(folder, name)
  expect(await sluice('one', 'key', file).ended).toBe(0)
  return file
}

describe('controllers on different machines', () => {
  it('join by a key that both have; one with another key does not', LONG, async () => {
    const key = ['--key-file', await newKey('key')]
    const controller = await global(...key)
    expect(controller.output.err).not.toContain('no key')
    sluice('two', 'local', '--name', 'joined', '--core', controller.at, ...key)
    await expect.poll(locals, LONG).toEqual(['joined'])

    const stranger = ['--name', 'stranger', '--core', controller.at]
    const wrong = sluice('three', 'local', ...stranger, '--key-file', await newKey('wrong'))
    await expect.poll(() => wrong.output.err, LONG).toContain('it has another key')
    const none = sluice('four', 'local', ...stranger)
    await expect.poll(() => none.output.err, LONG).toContain('disconnected')
    await expect.poll(() => controller.output.err).toContain('a local controller was refused')
    expect(await locals()).toEqual(['joined'])
  })

  it.skipIf(noOpenssl !== '')('join by certificates of one CA; one of another CA does not', LONG, async () => {
    const flags = (of: Authority, name: string): string[] => {
      const { tlsCa, tlsCert, tlsKey } = of.issue(name)
      return ['--tls-ca', tlsCa, '--tls-cert', tlsCert, '--tls-key', tlsKey]
    }
    const site = new Authority(folder, 'site')
    const controller = await global(...flags(site, 'global'))
    sluice('two', 'local', '--name', 'joined', '--core', controller.at, ...flags(site, 'local'))
    await expect.poll(locals, LONG).toEqual(['joined'])

    const other = new Authority(folder, 'other')
    const stranger = sluice('three', 'local', '--name', 'x', '--core', controller.at, ...flags(other, 'local'))
    await expect.poll(() => stranger.output.err, LONG).toContain('retrying')
    expect(await locals()).toEqual(['joined'])
  })

  it('are not kept from each other by one who connects and says nothing: that is ended', LONG, async () => {
    const key = ['--key-file', await newKey('key')]
    const controller = await global(...key)
    const silent = connect(Number(controller.at.split(':')[1]), '127.0.0.1')
    const ended = new Promise((resolve) => silent.on('close', resolve))
    silent.on('error', () => undefined).resume()
    sluice('two', 'local', '--name', 'joined', '--core', controller.at, ...key)
    await expect.poll(locals, LONG).toEqual(['joined'])
    await ended
    await expect.poll(() => controller.output.err).toContain('it did not finish the handshake')
  })

  it('are refused by name before anything is opened, where nothing secures the port', LONG, async () => {
    for (const args of [
      ['global', '--listen', '0.0.0.0:0'],
      ['local', '--core', '192.0.2.1:7424'],
    ]) {
      const { output, ended } = sluice('one', ...args)
      expect(await ended).toBe(1)
      expect(output.err).toContain('is not used without authentication')
      expect(output.err).toContain('sluice padll key')
    }
    const file = await newKey('key')
    chmodSync(file, 0o644)
    const { output, ended } = sluice('one', 'global', '--listen', '127.0.0.1:0', '--key-file', file)
    expect(await ended).toBe(2)
    expect(output.err).toContain('other users can read it')
    // With a private key file, every address can be used.
    chmodSync(file, 0o600)
    const open = sluice('one', 'global', '--listen', '0.0.0.0:0', '--key-file', file)
    await expect.poll(() => open.output.out, LONG).toContain('local controllers at 0.0.0.0:')
  })
})
