import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import { afterEach, describe, expect, it } from 'vitest'
import { locksCompare } from '#core/api/locks.ts'
import { compareManagers } from '#core/emulator/ccpfs-managers.ts'
import { parseScenario, type Scenario } from '#core/emulator/scenario.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { lockedScenario } from '../../../tests/node/locked-host.ts'
import { openHost } from '../host.ts'
import { LockComparison } from './compare.ts'

function scenarioOf(text = lockedScenario()): Scenario {
  const parsed = parseScenario(text, 'locked.yaml')
  if (!parsed.ok) throw new Error(parsed.error.why)
  return parsed.value
}

/** Thread that runs the given code, with `parentPort` in scope. */
function program(text: string): string {
  const file = join(tempFolder(), 'program.mjs')
  writeFileSync(file, `import { parentPort } from 'node:worker_threads'\n${text}\n`)
  return file
}
const ENDLESS = 'setInterval(() => undefined, 1000)'
const request = { managers: ['seqdlm', 'basic'], seconds: 0.5 } as const

const open: LockComparison[] = []
function comparison(...of: ConstructorParameters<typeof LockComparison>): LockComparison {
  const made = new LockComparison(...of)
  open.push(made)
  return made
}
afterEach(() => {
  for (const c of open.splice(0)) c.close()
})
const codeOf = async (run: ReturnType<LockComparison['run']>): Promise<string> => {
  const done = await run
  return done.ok ? 'ok' : done.error.code
}

describe('comparing lock managers', () => {
  it('finds in its thread what the model finds here, each manager once, in the order asked for', async () => {
    const scenario = scenarioOf()
    const run = await comparison(scenario, 7).run({ ...request, managers: ['seqdlm', 'basic', 'seqdlm'] })
    if (!run.ok) throw new Error(run.error.what)
    expect(locksCompare.parse(run.value)).toEqual(run.value)
    const here = compareManagers(scenario, { ...request, seed: 7 })
    expect(run.value).toEqual({
      seconds: 0.5,
      seed: 7,
      results: here.map(({ manager, name, writeBps, readBps, longestWaitNs, files }) => ({
        manager,
        name,
        writeBps,
        readBps,
        longestWaitMs: longestWaitNs / 1e6,
        files: files.map((f) => ({ file: f.file, writeBps: f.writeBps, readBps: f.readBps })),
      })),
    })
    expect(here[0]?.writeBps).toBeGreaterThan(0)
  })

  it('refuses a second one, and lets the next in when the first was canceled', async () => {
    const c = comparison(scenarioOf(), 1, program(ENDLESS))
    const ended = new AbortController()
    const first = codeOf(c.run(request, ended.signal))
    expect(await codeOf(c.run(request))).toBe('LOCKS_COMPARE_BUSY')
    ended.abort()
    expect(await first).toBe('LOCKS_COMPARE_CANCELLED')
    const second = codeOf(c.run(request))
    c.close()
    expect(await second).toBe('LOCKS_COMPARE_CANCELLED')
  })

  it('does not start for a window that has gone, nor without a lock manager', async () => {
    expect(await codeOf(comparison(scenarioOf(), 1).run(request, AbortSignal.abort()))).toBe('LOCKS_COMPARE_CANCELLED')
    expect(await codeOf(comparison(undefined, 1).run(request))).toBe('NO_LOCK_MANAGER')
  })

  it.each([
    ['throws', `throw new Error('no memory left')`, 'no memory left'],
    ['exits', 'process.exit(3)', 'its thread ended with code 3'],
    ['ends without a word', '', 'its thread ended with code 0'],
  ])('is a notice when its thread %s, and the next one is let in', async (_, text, why) => {
    const c = comparison(scenarioOf(), 1, program(text))
    expect(await c.run(request)).toMatchObject({ ok: false, error: { code: 'LOCKS_COMPARE_CRASHED', why } })
    expect(await codeOf(c.run(request))).toBe('LOCKS_COMPARE_CRASHED')
  })
})

describe('over the contract', () => {
  async function opened(text: string) {
    const scenarioFile = join(tempFolder(), 'locked.yaml')
    writeFileSync(scenarioFile, text)
    const host = await openHost({ shell: 'terminal', historyFile: ':memory:', paced: false, scenarioFile, seed: 3 })
    if (!host.ok) throw new Error(host.error.why)
    return { host: host.value, client: createRouterClient(host.value.router, { context: { peer: 'test' } }) }
  }

  it('compares with the seed of the source, is canceled by the caller, and ends with the host', async () => {
    const { host, client } = await opened(lockedScenario())
    const compared = await client.locks.compare({ managers: ['seqdlm'], seconds: 0.2 })
    expect(compared).toMatchObject({ seconds: 0.2, seed: 3, results: [{ manager: 'seqdlm', name: 'SeqDLM' }] })
    const ended = new AbortController()
    const long = client.locks.compare({ managers: ['basic'], seconds: 60 }, { signal: ended.signal })
    ended.abort()
    await expect(long).rejects.toThrow()
    const last = client.locks.compare({ managers: ['basic'], seconds: 60 })
    const refused = expect(last).rejects.toMatchObject({ data: { code: 'LOCKS_COMPARE_CANCELLED' } })
    await new Promise((resolve) => setImmediate(resolve))
    await host.close()
    await refused
  })

  it('is refused in words where there is no lock manager', async () => {
    const { host, client } = await opened(lockedScenario(null))
    await expect(client.locks.compare({ managers: ['seqdlm'] })).rejects.toMatchObject({
      code: 'REFUSED',
      data: { code: 'NO_LOCK_MANAGER' },
    })
    await host.close()
  })

  it.each<[string, { managers: string[]; seconds?: number }]>([
    ['no manager', { managers: [] }],
    ['an unknown manager', { managers: ['constructor'] }],
    ['five managers', { managers: ['basic', 'basic', 'basic', 'basic', 'basic'] }],
    ['no time', { managers: ['basic'], seconds: 0 }],
    ['an hour', { managers: ['basic'], seconds: 3600 }],
    ['time that is no number', { managers: ['basic'], seconds: NaN }],
  ])('refuses %s', async (_, input) => {
    const { host, client } = await opened(lockedScenario())
    const call = client.locks.compare(input as Parameters<typeof client.locks.compare>[0])
    await expect(call).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    await host.close()
  })
})
