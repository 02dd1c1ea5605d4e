/** Every column of the five tables has an explanation, and every explanation is used. */
import { expect, it } from 'vitest'
import { METRICS } from '#core/api/sandbox.ts'
import { tileId } from '#core/api/frames.ts'
import { clusterMeasure } from '#core/api/history.ts'
import { jobColumns } from '../views/jobs/columns.ts'
import { columns as ruleColumns } from '../views/rules/columns.ts'
import { terms } from './meanings/token-terms.ts'
import { meanings, meaningOf } from './meanings.ts'

import { labelOf } from '../views/history/measure-model.ts'

const sources = Object.entries(
  import.meta.glob<string>(['../**/*.vue', '../**/*.ts', '!../help/meanings/**', '!../**/*.test.ts'], {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
).map(([file, text]) => ({ file: file.replace(/^\.\.\//, ''), text }))
const textOf = (file: string): string => sources.find((s) => s.file === file)?.text ?? ''
/** Keys of the columns that a table lists in its own file: `{ id: 'locks', title: …`. */
const listed = (file: string, key: 'id' | 'sort'): string[] =>
  [...textOf(file).matchAll(new RegExp(`\\{\\s+(?:\\.\\.\\.\\{ )?${key}: '(\\w+)',\\s+title: '([^']+)'`, 'g'))].map(
    (m) => m[1] ?? '',
  )
/** Ids of the explanations of the columns that a DataTable lists in its own file; the column itself if it has none. */
const explained = (file: string): string[] =>
  textOf(file)
    .split(/\bid: (?='\w+',\s+title: (?!''))/)
    .slice(1)
    .map((column) => /\bexplain: '([\w.]+)'/.exec(column)?.[1] ?? `${file}: ${column.split(',')[0]}`)

const tokensTable = explained('views/tokens/ClientsTable.vue')
const channelsTable = explained('views/metadata/ChannelsTable.vue')
/** Columns of both tables of locks, without the trend, which its header describes. */
const lockColumns = ['ResourceTable', 'LdlmPlane']
  .flatMap((name) => listed(`views/locks/${name}.vue`, 'id'))
  .filter((id) => id !== 'trend')
const moversTable = [...textOf('views/history/MoversPanel.vue').matchAll(/\bexplain: '([\w.]+)'/g)].map(
  (m) => m[1] ?? '',
)
const termOfColumn = new Set(terms.map((t) => t.id))
const computedIds = [
  ...tileId.options.map((id) => `overview.${id}`),
  ...jobColumns().map((c) => c.explain ?? c.id),
  ...ruleColumns.map((c) => c.explain ?? c.id),
  ...lockColumns.map((id) => `locks.${id}`),
  ...tokensTable,
  ...channelsTable,
  ...moversTable,
  ...['cpu', 'idle', 'worst', 'reserved'].map((id) => `tokens.${id}`),
  ...METRICS.map((id) => `sandbox.${id}`),
  ...clusterMeasure.options.map((id) => `history.${id}`),
  labelOf('lock_servers.grants_per_s').explain,
]

it('finds the columns to check', () => {
  expect(lockColumns).toHaveLength(15)
  // Each of them names its explanation.
  expect(textOf('views/locks/ResourceTable.vue').match(/explain: 'locks\.\w+'/g)).toHaveLength(5)
  expect(
    textOf('views/locks/LdlmPlane.vue').match(/explain: (?:'locks\.(?:target|node)'|`locks\.\$\{id\}`)/g),
  ).toHaveLength(3)
  expect(tokensTable).toHaveLength(13)
  expect(ruleColumns).toHaveLength(8)
  expect(channelsTable).toHaveLength(9)
  expect(moversTable).toHaveLength(3)
})

it('explains every column, tile and measure', () => {
  expect(computedIds.filter((id) => meaningOf(id) === undefined)).toEqual([])
})

it('has unique ids, each with unit, meaning and source', () => {
  expect(new Set(meanings.map((m) => m.id)).size).toBe(meanings.length)
  for (const m of meanings) {
    expect(m.title, m.id).not.toBe('')
    expect(m.means, m.id).toMatch(/[.:]$/)
    expect(m.source, m.id).not.toBe('')
  }
})

it('has no unused explanation, and no mark without one', () => {
  const marks = sources.flatMap(({ text }) => [
    ...[...text.matchAll(/\s(?:data-)?explain="([a-z]+\.\w+)"/g)].map((m) => m[1] ?? ''),
    ...[...text.matchAll(/'((?:overview|locks|sandbox)\.\w+)'/g)].map((m) => m[1] ?? ''),
  ])
  const termIds = sources.flatMap(({ text }) => [
    ...[...text.matchAll(/<TermLabel id="(\w+)"/g)].map((m) => m[1] ?? ''),
    ...[...text.matchAll(/term: '(\w+)'/g)].map((m) => m[1] ?? ''),
    ...[...text.matchAll(/termIds = \[([^\]]+)\]/g)].flatMap((m) =>
      [...(m[1] ?? '').matchAll(/'(\w+)'/g)].map((t) => t[1] ?? ''),
    ),
  ])
  const used = new Set([...computedIds, ...marks, ...termIds.map((id) => `tokens.${id}`)])
  // The inspector's list of terms shows each of them.
  for (const id of termOfColumn) used.add(`tokens.${id}`)
  expect(meanings.filter((m) => !used.has(m.id)).map((m) => m.id)).toEqual([])
  expect(
    sources
      .flatMap(({ text }) => [...text.matchAll(/\s(?:data-)?explain="([a-z]+\.\w+)"/g)].map((m) => m[1] ?? ''))
      .filter((id) => meaningOf(id) === undefined),
  ).toEqual([])
})

it('explains the legend of every chart, the columns of claims, and the reach of a review', () => {
  const legends = sources
    .filter(({ file }) => /^views\/(?!incidents)/.test(file) && file.endsWith('.vue'))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/<(?:Legend|LookLegend|PlotLegend|\w+[^>]*\sclass="legend(?: \w+)?")[^>]*>/g)].map((m) => ({
        file,
        tag: m[0],
      })),
    )
  expect(legends.length).toBeGreaterThan(15)
  // The parts of these are explained one by one, or the legend explains all of them.
  const inParts = [
    'views/metadata/ChannelsTable.vue',
    'views/metadata/JobsPanel.vue',
    'views/overview/ThroughputPanel.vue',
  ]
  const bare = legends.filter(
    ({ file, tag }) => !tag.includes('data-explain=') && !/PlotLegend\.vue|LookLegend\.vue/.test(file),
  )
  expect(bare.filter(({ file }) => !inParts.includes(file))).toEqual([])
  const idsIn = (file: string): string[] =>
    [...textOf(file).matchAll(/data-explain="([\w.]+)"/g)].map((m) => m[1] ?? '')
  expect(idsIn('views/papers/ClaimsTable.vue')).toHaveLength(7)
  expect(idsIn('views/rules/review/ReviewSummary.vue')).toHaveLength(4)
  for (const id of [...idsIn('views/papers/ClaimsTable.vue'), ...idsIn('views/rules/review/ReviewSummary.vue')]) {
    expect(meaningOf(id)?.formula, id).toBeDefined()
    expect(meaningOf(id)?.source, id).not.toBe('')
  }
})
