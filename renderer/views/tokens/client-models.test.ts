import { describe, expect, it } from 'vitest'
import { barTop, clientBar, clientModels, describeClient, sortClients } from './client-models.ts'
import {
  allZero,
  clientsOf,
  manyClients,
  tokensFrame,
  type SampleClient,
} from '#tests/kits/renderer/views/tokens-host.ts'

const modelsOf = (list: readonly SampleClient[]) => clientModels(tokensFrame({ clients: clientsOf(list) }))
const models = clientModels(tokensFrame())
const model = (id: string) => models.find((f) => f.id === id) ?? expect.fail(`no ${id}`)

describe('states', () => {
  it('are listed, the worst first', () => {
    expect(model('c07').badges.map((b) => b.text)).toEqual(['missed 3 periods', 'starved'])
    expect(model('c08').badges.map((b) => b.text)).toEqual(['throttled'])
    expect(model('c10').badges.map((b) => b.text)).toEqual(['best effort'])
    expect(model('c01').badges).toEqual([])
    expect(model('c01').statesText).toBe('active')
    expect(model('c07').statesText).toContain('25 000 of 110 000 still due')
  })
  it('of joining and leaving clients are named and explained', () => {
    const [joining, leaving, gone, crashed] = modelsOf(
      (['joining', 'leaving', 'gone', 'crashed'] as const).map((state) => ({ key: state, state })),
    )
    expect(joining?.statesText).toContain('applies from the next period on')
    expect(leaving?.statesText).toContain('yielded')
    expect(gone?.badges.map((b) => b.text)).toEqual(['gone'])
    expect(crashed?.badges[0]).toMatchObject({ text: 'crashed', level: 'bad' })
  })
  it('of missed reservations are bad from the alert threshold on', () => {
    const levels = [1, 9, 10].map((missed) => modelsOf([{ key: 'a', reservation: 5, missed }])[0]?.badges[0]?.level)
    expect(levels).toEqual(['watch', 'watch', 'bad'])
    expect(modelsOf([{ key: 'a', reservation: 5, missed: 1 }])[0]?.badges[0]?.text).toBe('missed 1 period')
  })
})

describe('bars', () => {
  it('have one scale that holds reservations, uses and limits that are near', () => {
    const top = barTop(models)
    expect(top).toBeGreaterThan(300_000)
    expect(top).toBeLessThan(340_000)
    const bar = clientBar(model('c09'), top)
    expect(bar.reserved + bar.pool).toBeCloseTo(168_000 / top)
    expect(bar.limit).toBeNull()
    expect(clientBar(model('c10'), top).reservation).toBeNull()
  })
  it('are not flattened by a limit far away', () => {
    const [only] = modelsOf([{ key: 'a', reservation: 1000, usedReserved: 500, limit: 9_000_000 }])
    const top = barTop(only ? [only] : [])
    expect(top).toBeLessThan(1200)
    expect(only && clientBar(only, top).limit).toBeNull()
  })
  it('of nothing are empty, not NaN', () => {
    const none = clientModels(allZero())
    expect(none.map((f) => clientBar(f, barTop(none)))).toEqual([
      { reserved: 0, pool: 0, reservation: null, limit: null },
    ])
    expect(barTop([])).toBe(1)
  })
})

describe('sorting', () => {
  const ids = (...args: Parameters<typeof sortClients>): string[] => sortClients(...args).map((f) => f.id)
  it('by name is numeric: 2 comes before 10', () => {
    const many = clientModels(manyClients(12))
    expect(ids([...many].reverse(), 'name', false).slice(0, 3)).toEqual(['n1', 'n2', 'n3'])
    expect(ids(many, 'name', true)[0]).toBe('n12')
  })
  it('by a number leaves equals in the order of their names, and what was not measured last, both ways', () => {
    const some = modelsOf([
      { key: 'b', iops: null },
      { key: 'd', iops: 5 },
      { key: 'c', iops: 5 },
      { key: 'a', iops: 9 },
    ])
    expect(ids(some, 'iops', true)).toEqual(['a', 'c', 'd', 'b'])
    expect(ids(some, 'iops', false)).toEqual(['c', 'd', 'a', 'b'])
    expect(ids(models, 'missed', true)[0]).toBe('c07')
    expect(ids(models, 'used', true)[0]).toBe('c10')
  })
})

it('describes a card as text', () => {
  const description = describeClient(model('c09'))
  expect(description).toContain(
    '168\u202F000 tokens used this period, 80\u202F000 from its reservation, 88\u202F000 from the pool',
  )
  expect(description).toContain('no limit')
  expect(describeClient(model('c10'))).toContain('no reservation')
})

it('shows invisible characters of a name', () => {
  expect(modelsOf([{ key: 'k', name: 'safe\u202Egnp', jobId: 'a\nb', why: '\u0007' }])[0]).toMatchObject({
    name: 'safe\u2039202E\u203Agnp',
    job: 'a\u240Ab',
    why: '\u2407',
    jobId: 'a\nb',
  })
})
