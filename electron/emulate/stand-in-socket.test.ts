import { existsSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Emulation } from './emulation.ts'
import { openSocket, type StandInSocket } from './stand-in-socket.ts'
import { ALL_BYTES, bytesScenario, scratchSocket } from '#tests/kits/electron/emulate/emulation.ts'
import { decodeAnswer, decodeRequest, encodeAnswer, encodeRequest } from './wire.ts'

const emulation = new Emulation(bytesScenario(), { speed: 0, sudo: 'none' })
const path = scratchSocket()
let socket: StandInSocket
beforeAll(async () => {
  const opened = await openSocket(emulation, path)
  if (!opened.ok) throw new Error(opened.error.why)
  socket = opened.value
})
afterAll(() => socket.stop())

const send = (bytes: Buffer, isEnd = true): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const s = connect(path, () => (isEnd ? s.end(bytes) : s.write(bytes)))
    s.on('data', (c: Buffer) => chunks.push(c)).on('error', reject)
    s.on('close', () => resolve(Buffer.concat(chunks)))
    s.on('end', () => s.end())
  })
const ask = async (kind: 'run' | 'line' | 'speed', node: string, user: string, ...words: string[]) =>
  decodeAnswer(await send(encodeRequest({ kind, node, user, words })))

describe('the wire', () => {
  const byteText = fc.array(fc.integer({ min: 0, max: 255 })).map((a) => String.fromCharCode(...a))

  it('carries requests and answers of any bytes', () => {
    fc.assert(
      fc.property(byteText, byteText, fc.array(byteText, { maxLength: 5 }), (node, user, words) => {
        const request = { kind: 'run' as const, node, user, words }
        expect(decodeRequest(encodeRequest(request))).toEqual(request)
      }),
    )
    fc.assert(
      fc.property(byteText, byteText, fc.integer({ min: 0, max: 255 }), (stdout, stderr, code) => {
        expect(decodeAnswer(encodeAnswer({ stdout, stderr, code }))).toEqual({ stdout, stderr, code })
      }),
    )
  })

  it('takes no request for another one, however it is cut or garbled', () => {
    const whole = encodeRequest({ kind: 'run', node: 'oss01', user: 'root', words: ['lctl', 'dl'] })
    for (let n = 0; n < whole.length; n++) expect(decodeRequest(whole.subarray(0, n))).toBeUndefined()
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const garbled = Buffer.from(whole)
        garbled[at] = byte
        const read = decodeRequest(garbled)
        // Any result is valid, except a crash or more bytes than were sent.
        if (typeof read === 'object') expect(encodeRequest(read).length).toBeLessThanOrEqual(whole.length)
      }),
    )
  })
})

describe('the socket', () => {
  it('is for its user alone', () => {
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('runs programs by their words, without a shell in between', async () => {
    const words = ALL_BYTES.map((b) => `${b}$(id);*`)
    expect(await ask('run', 'oss01', 'root', 'echo', ...words)).toEqual({
      stdout: `${words.join(' ')}\n`,
      stderr: '',
      code: 0,
    })
    expect(await ask('run', 'oss01', 'ops', 'id', '-un')).toMatchObject({ stdout: 'ops\n' })
    expect(await ask('run', 'oss01', 'root', 'nosuch')).toMatchObject({ code: 127 })
    expect(await ask('line', 'mds01', 'root', 'hostname; false')).toMatchObject({ stdout: 'mds01\n', code: 1 })
  })

  it('says what it does not know', async () => {
    expect(await ask('run', 'oss99', 'root', 'id')).toMatchObject({
      code: 255,
      stderr: expect.stringContaining('oss99') as string,
    })
    expect(await ask('run', 'oss01', 'mallory', 'id')).toMatchObject({ code: 255 })
    expect(await ask('speed', '-1', '')).toMatchObject({ code: 255 })
    expect(await ask('speed', '0', '')).toMatchObject({ code: 0 })
    expect(decodeAnswer(await send(Buffer.from([255, 255, 255, 255, 0])))).toMatchObject({ code: 255 })
    expect(decodeAnswer(await send(Buffer.from([4, 0, 0, 0, 255, 255, 255, 255])))).toMatchObject({ code: 255 })
    expect(await send(Buffer.from([9, 0, 0, 0, 1]))).toHaveLength(0)
    expect(await ask('run', 'oss01', 'root', 'hostname')).toMatchObject({ stdout: 'oss01\n' })
  })

  it('does not take the place of a file or of another emulator, but of what one left behind', async () => {
    expect(await openSocket(emulation, path)).toMatchObject({ ok: false, error: { code: 'EMULATE_SOCKET' } })
    const file = scratchSocket()
    writeFileSync(file, 'kept')
    expect(await openSocket(emulation, file)).toMatchObject({
      ok: false,
      error: { why: 'a file of this name exists' },
    })
    expect(existsSync(file)).toBe(true)
    expect(await openSocket(emulation, `${file}/x`)).toMatchObject({ ok: false })
    expect(await openSocket(emulation, `/tmp/${'x'.repeat(200)}`)).toMatchObject({ ok: false })
    const other = scratchSocket()
    const first = await openSocket(emulation, other)
    expect(first.ok).toBe(true)
    if (first.ok) first.value.stop()
    expect(existsSync(other)).toBe(false)
  })
})
