/** A compromised window: whatever it sends to the host is refused as a value, and the host keeps running. */
import { EventEmitter } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { ORPCError } from '@orpc/client'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/message-port'
import type { ContractRouterClient } from '@orpc/contract'
import { contract, type Contract } from '#core/api/contract.ts'
import { ok } from '#core/base/result.ts'
import { openHost, type Host } from '#electron/host/host.ts'
import { runHost } from '#electron/main/host-loop.ts'
import { MAX_MESSAGE, verbsOf } from '#electron/server/messages.ts'
import { asElectronPort } from '../fake-electron.ts'
import { tempFolder } from '../temp-folder.ts'

const dataDir = tempFolder()
let host: Host
let port: MessagePort
let client: ContractRouterClient<Contract>
const unknown: string[] = []

beforeAll(async () => {
  const opened = await openHost({
    shell: 'desktop',
    historyFile: ':memory:',
    dataDir,
    paced: false,
    ssh: { home: dataDir, configFile: null, agentSocket: '', knownHosts: [] },
  })
  if (!opened.ok) throw new Error(opened.error.what)
  host = opened.value
  const parent = new EventEmitter()
  const { router } = host
  const unknownVerb = (peer: string, verb: string): void => {
    unknown.push(`${peer} ${verb}`)
    host.unknownVerb(peer, verb)
  }
  runHost(
    parent,
    Promise.resolve(ok({ router, unknownVerb, close: () => host.close() })),
    () => undefined,
    () => undefined,
  )
  const channel = new MessageChannel()
  port = channel.port2
  parent.emit('message', { data: { type: 'connect' }, ports: [asElectronPort(channel.port1)] })
  client = createORPCClient(new RPCLink({ port }))
  port.start()
  await client.host.info()
})
afterAll(async () => {
  port.close()
  await host.close()
})

const STRINGS = [
  '',
  '..',
  '../../../etc/passwd',
  '/etc/passwd',
  'C:\\Windows',
  'a\0b',
  '$(id)',
  '`id`',
  "'; rm -rf / #",
  '<img src=x onerror=alert(1)>',
  '\u202egnp',
  '__proto__',
  'constructor',
  '{"__proto__":{"a":1}}',
  '=1+1',
  '&a [*a,*a]',
  'x'.repeat(70_000),
  '\ud800',
  '%2e%2e%2f',
  'file:///etc/passwd',
  'javascript:alert(1)',
] as const
const hostileString = fc.constantFrom(...STRINGS)
const hostileNumber = fc.constantFrom(NaN, Infinity, -Infinity, -1, -0, 0.1, 2 ** 53, 1e308, -(2 ** 31), 1)
const leaf = fc.oneof(
  hostileString,
  hostileNumber,
  fc.boolean(),
  fc.constant(null),
  fc.constant(undefined),
  fc.constant([]),
  fc.constant({}),
)
const value = fc.oneof(
  { weight: 4, arbitrary: leaf },
  { weight: 1, arbitrary: fc.array(leaf, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.dictionary(hostileString, leaf, { maxKeys: 4 }) },
)

/** Names of a verb's input fields: with them hostile values get as far as possible. */
function keysOf(verb: string): string[] {
  const procedure = verb
    .split('/')
    .slice(1)
    .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], contract) as {
    '~orpc': { inputSchema?: { shape?: Record<string, unknown> } }
  }
  return Object.keys(procedure['~orpc'].inputSchema?.shape ?? {})
}
const inputFor = (keys: readonly string[]): fc.Arbitrary<unknown> =>
  keys.length === 0
    ? value
    : fc.oneof(
        { weight: 1, arbitrary: value },
        { weight: 6, arbitrary: fc.record(Object.fromEntries(keys.map((k) => [k, value])), { requiredKeys: [] }) },
      )

type Call = (input: unknown, options: { signal: AbortSignal }) => Promise<unknown>
const callOf = (verb: string): Call =>
  verb
    .split('/')
    .slice(1)
    .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], client) as Call

/** Outcome of one call: its code if it was refused; streams are canceled after their first event. */
async function outcome(verb: string, input: unknown): Promise<string> {
  const ended = new AbortController()
  const late = setTimeout(() => ended.abort(), 100)
  try {
    const answer = await callOf(verb)(input, { signal: ended.signal })
    if (typeof answer !== 'object' || answer === null || !(Symbol.asyncIterator in answer)) return 'done'
    const events = (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]()
    await events.next()
    ended.abort()
    return 'stream'
  } catch (e) {
    if (ended.signal.aborted) return 'left'
    return e instanceof ORPCError ? String(e.code) : `not a value: ${String(e)}`
  } finally {
    clearTimeout(late)
  }
}

describe('hostile input', () => {
  const verbs = [...verbsOf(contract)]

  it('reaches every verb of the contract', () => {
    expect(verbs.length).toBeGreaterThan(70)
    expect(verbs).toContain('/shell/save')
    expect(verbs).toContain('/source/setMode')
  })

  it.each(verbs)('%s is done or refused, and the host continues', async (verb) => {
    await fc.assert(
      fc.asyncProperty(inputFor(keysOf(verb)), async (input) => {
        const came = await outcome(verb, input)
        expect(['done', 'stream', 'left', 'BAD_REQUEST', 'REFUSED']).toContain(came)
      }),
      { numRuns: 12 },
    )
    expect(await client.host.info()).toMatchObject({ name: 'sluice' })
  })
})

describe('a message outside the contract', () => {
  const answered = (message: unknown): Promise<string> =>
    new Promise((resolve) => {
      const listen = (data: unknown): void => {
        clearTimeout(late)
        port.off('message', listen)
        resolve(typeof data === 'string' ? data : JSON.stringify(data))
      }
      const late = setTimeout(() => listen('nothing'), 150)
      port.on('message', listen)
      port.postMessage(message)
    })

  it('for a verb that there is not is answered so, and is on record', async () => {
    const output = await answered(JSON.stringify({ i: '900', p: { u: '/host/exec', b: { json: { command: 'id' } } } }))
    expect(output).toContain('"s":404')
    for (let i = 0; i < 50; i++) await answered(JSON.stringify({ i: `${901 + i}`, p: { u: `/__proto__/${i}` } }))
    // Only the first ones are reported: a flood must not fill the log.
    expect(unknown).toHaveLength(5)
    expect(unknown[0]).toBe('window-1 /host/exec')
    const kept = Buffer.concat(readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name))))
    expect(kept.includes('refused window-1: no verb /host/exec')).toBe(true)
  })

  it('larger than a mebibyte is not read, nor is one that is no text', async () => {
    const call = (body: string) => JSON.stringify({ i: '990', p: { u: '/host/info', b: { json: body } } })
    expect(await answered(call('x'.repeat(MAX_MESSAGE)))).toBe('nothing')
    expect(await answered(new Uint8Array(8))).toBe('nothing')
    expect(await answered({ i: '991', p: { u: '/host/info' } })).toBe('nothing')
    expect(await answered(call('small'))).not.toBe('nothing')
  })
})
