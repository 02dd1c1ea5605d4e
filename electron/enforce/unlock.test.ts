import { beforeEach, describe, expect, it } from 'vitest'
import type { SafeMode } from '#core/api/clusters.ts'
import type { Failure } from '#core/base/result.ts'
import { Unlock, UNLOCK_MS } from './unlock.ts'

let mode: SafeMode
let nowMs: number
let steadyMs: number
let locks: string[]
let broken: Failure | undefined
let unlock: Unlock
let roots: string[]
let isRootAllowed: boolean

beforeEach(() => {
  mode = 'review+unlock'
  nowMs = 1_000_000
  steadyMs = 500
  locks = []
  broken = undefined
  roots = []
  isRootAllowed = false
  unlock = new Unlock({
    cluster: 'altair',
    safeMode: () => mode,
    onLock: (why) => locks.push(why),
    refusal: () => broken,
    nowMs: () => nowMs,
    steadyMs: () => steadyMs,
    root: { hosts: () => roots, isAllowed: () => isRootAllowed },
  })
})
const pass = (ms: number): void => {
  nowMs += ms
  steadyMs += ms
}
const code = (): string | undefined => unlock.mayWrite()?.code

describe('a login as root', () => {
  it('writes nothing until the cluster allows it, whatever its safe mode, and may remove', () => {
    roots = ['oss01', 'oss02']
    for (const m of ['review', 'review+unlock'] as const) {
      mode = m
      expect(unlock.mayWrite()).toMatchObject({
        code: 'ROOT_LOGIN',
        why: 'the login is root on oss01, oss02',
        next: expect.stringContaining('allow_root: true') as unknown,
      })
      expect(unlock.mayEnter('enforce')).toMatchObject({ ok: false, error: { code: 'ROOT_LOGIN' } })
      expect(unlock.mayEnter('advise').ok).toBe(true)
      expect(unlock.mayRemove()).toBeUndefined()
    }
    expect(unlock.unlock('altair')).toMatchObject({ ok: false, error: { code: 'ROOT_LOGIN' } })
    isRootAllowed = true
    expect(code()).toBe('LOCKED')
    expect(unlock.unlock('altair').ok).toBe(true)
    expect(code()).toBeUndefined()
    // A server that connects as root later ends it as well.
    isRootAllowed = false
    expect(code()).toBe('ROOT_LOGIN')
    mode = 'read-only'
    expect([code(), unlock.mayRemove()?.code]).toEqual(['READ_ONLY', 'READ_ONLY'])
  })
})

describe('review+unlock', () => {
  it('is locked until the cluster was typed, and for 15 minutes then', () => {
    expect(code()).toBe('LOCKED')
    expect(unlock.mayEnter('enforce')).toMatchObject({ ok: false, error: { code: 'LOCKED' } })
    expect(unlock.mayEnter('advise').ok).toBe(true)
    for (const typed of ['', 'Altair', 'altair ', 'vega']) {
      expect(unlock.unlock(typed)).toMatchObject({ ok: false, error: { code: 'NOT_TYPED' } })
    }
    expect(code()).toBe('LOCKED')
    expect(unlock.unlock('altair')).toEqual({ ok: true, value: nowMs + UNLOCK_MS })
    pass(UNLOCK_MS - 1)
    expect(code()).toBeUndefined()
    pass(1)
    expect([code(), unlock.untilMs, locks]).toEqual(['LOCKED', null, ['the 15 minutes are over']])
  })

  it('is locked manually, once', () => {
    unlock.unlock('altair')
    unlock.lock('by hand')
    unlock.lock('again')
    expect([code(), locks]).toEqual(['LOCKED', ['by hand']])
  })

  it('restarts when it is typed again', () => {
    unlock.unlock('altair')
    pass(UNLOCK_MS - 1)
    unlock.unlock('altair')
    pass(UNLOCK_MS - 1)
    expect([code(), locks]).toEqual([undefined, []])
  })

  it.each([
    ['a lid that was closed for a minute', 60_000, 0],
    ['a clock that was set forward', 3_600_000, 10],
    ['a clock that was set back, so that the unlock would last', -3_600_000, 10],
  ])('is locked after %s', (_what, wall, steady) => {
    unlock.unlock('altair')
    nowMs += wall
    steadyMs += steady
    expect([code(), locks.length]).toEqual(['LOCKED', 1])
  })

  it('ends by the steady clock, too, when the other one is slewed slowly', () => {
    unlock.unlock('altair')
    for (let i = 0; i < 1000 && locks.length === 0; i++) {
      nowMs += 1
      steadyMs += 2_000
      unlock.look()
    }
    expect(locks).toHaveLength(1)
    expect(steadyMs).toBeLessThanOrEqual(500 + UNLOCK_MS)
  })

  it('lets rules be taken away while it is locked, since that ends a limit and makes none', () => {
    expect([code(), unlock.mayRemove()]).toEqual(['LOCKED', undefined])
  })
})

describe('other safe modes', () => {
  it('read-only: neither an unlock nor anything else leads to a write', () => {
    mode = 'read-only'
    expect(code()).toBe('READ_ONLY')
    expect(unlock.unlock('altair')).toMatchObject({ ok: false, error: { code: 'READ_ONLY' } })
    expect(unlock.mayEnter('enforce')).toMatchObject({ ok: false, error: { code: 'READ_ONLY' } })
    expect(unlock.mayRemove()?.code).toBe('READ_ONLY')
    expect(code()).toBe('READ_ONLY')
  })

  it('read-only: an unlock from before counts for nothing', () => {
    unlock.unlock('altair')
    mode = 'read-only'
    expect([code(), unlock.mayRemove()?.code]).toEqual(['READ_ONLY', 'READ_ONLY'])
  })

  it('review: there is nothing to unlock', () => {
    mode = 'review'
    expect(code()).toBeUndefined()
    expect(unlock.unlock('altair')).toMatchObject({ ok: false, error: { code: 'NOT_LOCKED' } })
  })

  it.each(['review', 'review+unlock'] as const)(
    '%s: nothing is written while the audit is broken; what is there may be removed',
    (m) => {
      mode = m
      unlock.unlock('altair')
      broken = { code: 'AUDIT_BROKEN', what: 'x' }
      expect([code(), unlock.mayRemove()?.code, unlock.unlock('altair').ok]).toEqual(['AUDIT_BROKEN', undefined, false])
    },
  )
})
