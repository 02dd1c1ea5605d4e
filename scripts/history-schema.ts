/** Writes docs/history-schema.md from the registry of tables and metrics: `node scripts/history-schema.ts`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PLANE_TABLES, type RollUpOf } from '../core/series/plane-tables.ts'
import { CLUSTER_METRICS, JOB_METRICS, planeMetrics, TARGET_METRICS } from '../electron/history/open-metrics.ts'
import { QUERY_ROWS, QUERY_SECONDS } from '../electron/history/sql.ts'
import { HISTORY_TABLES } from '../electron/history/tables.ts'

export const SCHEMA_PAGE = join(import.meta.dirname, '../docs/history-schema.md')

/** Queries of the page, which a test runs. */
export const EXAMPLES: readonly { readonly title: string; readonly sql: string }[] = [
  {
    title: 'Lock resources by the time that they were in a convoy, in seconds',
    sql: `SELECT name, place, sum(convoy_share) AS convoy_s, max(waiters) AS most_waiting, max(wait_longest_ms) AS longest_ms
  FROM lock_resources('1s') WHERE NOT is_others GROUP BY name, place ORDER BY convoy_s DESC LIMIT 10`,
  },
  {
    title: 'Kept convoys, longest first',
    sql: `SELECT start_time, (end_ms - start_ms) / 1000.0 AS seconds, resource, server, waiting
  FROM convoys ORDER BY seconds DESC`,
  },
  {
    title: 'Metadata operations per second that jobs held and did not use while others waited',
    sql: `SELECT job, avg(asked_per_s) AS asked, avg(served_per_s) AS served, avg(false_allocation_per_s) AS false_allocation
  FROM metadata_jobs('10s') WHERE NOT is_others GROUP BY job ORDER BY false_allocation DESC`,
  },
  {
    title: 'Haechi clients that missed their reservation, by minute',
    sql: `SELECT substr(time, 1, 16) AS minute, place AS node, name AS client, sum(missed) AS periods
  FROM token_clients('1s') WHERE missed > 0 GROUP BY minute, node, client ORDER BY minute`,
  },
  {
    title: 'Periods in which the pool of a data node was overdrawn',
    sql: `SELECT time, name, pool_start, pool_lowest, estimate FROM token_nodes('1s') WHERE pool_lowest < 0 ORDER BY time_ms`,
  },
  {
    title: 'Data and metadata of each job in a range, by a join',
    sql: `WITH d AS MATERIALIZED (SELECT job, avg(rpcs_per_s) AS rpcs FROM jobs('10s') GROUP BY job),
  m AS MATERIALIZED (SELECT job, avg(served_per_s) AS ops FROM metadata_jobs('10s') GROUP BY job)
SELECT d.job, d.rpcs, m.ops FROM d LEFT JOIN m USING (job) ORDER BY d.rpcs DESC`,
  },
  {
    title: 'Tokens that AdapTBF allocated to each job',
    sql: `SELECT json_extract(a.value, '$[0]') AS job, sum(json_extract(a.value, '$[1]')) AS tokens
  FROM decisions, json_each(decisions.allocations) AS a GROUP BY job ORDER BY tokens DESC`,
  },
  {
    title: 'Rules of the last hour of 2 January, with their duration in seconds',
    sql: `SELECT server, name, conditions, rate_per_s, (end_ms - start_ms) / 1000.0 AS seconds
  FROM rules('2026-01-02T23:00Z', '2026-01-03T00:00Z') ORDER BY server, start_ms`,
  },
]

/** Text in a cell of a Markdown table. */
const cell = (text: string): string => text.replaceAll('|', '\\|')

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')

const metricRows = (families: readonly ({ name: string; help: string } | undefined)[]): string[][] => {
  const known = new Map(families.flatMap((f) => (f ? [[f.name, f.help] as const] : [])))
  return [...known].map(([name, help]) => [`\`${name}\``, help])
}

/** Value of a column in a tier of 10 s or 1 min, by its roll-up. */
const ROLL_UPS: Readonly<Record<RollUpOf, string>> = {
  rate: 'mean over all periods',
  mean: 'mean over its rows',
  max: 'largest',
  min: 'smallest',
  last: 'last',
}
const rollUps = new Map(
  PLANE_TABLES.map((t) => [t.id as string, new Map(t.columns.map((c) => [c.name, ROLL_UPS[c.rollUp]]))]),
)

const ofTables = HISTORY_TABLES.map(({ name, about, hasTiers, columns }) => {
  const parameters = hasTiers ? 'tier, from_ms, to_ms' : 'from_ms, to_ms'
  const coarser = rollUps.get(name)
  const head = ['column', 'type', 'unit', 'meaning', ...(coarser ? ['in coarser tiers'] : [])]
  const rows = columns.map((c) => {
    const row = [`\`${c.name}\``, c.type, c.unit, c.about]
    return coarser ? [...row, coarser.get(c.name) ?? ''] : row
  })
  return `### ${name}\n\n${about}. Parameters: \`${name}(${parameters})\`.\n\n${table(head, rows)}`
}).join('\n\n')

const labelsOf = ({ placeIs, hasJob }: { readonly placeIs: string; readonly hasJob: boolean }): string =>
  ['cluster', 'name', ...(placeIs === '' ? [] : ['place']), ...(hasJob ? ['job'] : [])]
    .map((label) => `\`${label}\``)
    .join(', ')

const ofMetrics = [
  `### cluster\n\nLabels: \`cluster\`.\n\n${table(['metric', 'meaning'], metricRows(Object.values(CLUSTER_METRICS)))}`,
  `### targets\n\nLabels: \`cluster\`, \`target\`, \`node\`.\n\n${table(['metric', 'meaning'], metricRows(Object.values(TARGET_METRICS)))}`,
  `### jobs\n\nLabels: \`cluster\`, \`job\`, \`user\`, \`account\`.\n\n${table(['metric', 'meaning'], metricRows(Object.values(JOB_METRICS)))}`,
  ...PLANE_TABLES.map((t) => {
    const numbered = planeMetrics(t).some(({ number }) => number !== undefined)
    const labels = `${labelsOf(t)}${numbered ? '; of metrics by check also `check`' : ''}`
    return `### ${t.id}\n\nLabels: ${labels}. At most ${t.most + 1} series each.\n\n${table(['metric', 'meaning'], metricRows(planeMetrics(t)))}`
  }),
].join('\n\n')

const ofExamples = EXAMPLES.map(({ title, sql }) => `${title}:\n\n\`\`\`sql\n${sql}\n\`\`\``).join('\n\n')

/** Text of the page. */
export const schemaPage = (): string => `# History schema

Tables, columns and metrics of the history, for SQL, CSV and OpenMetrics. The tables of the file itself are internal and change between
releases. \`scripts/history-schema.ts\` generates this page from the registry of tables.

## SQL

\`\`\`sh
npx sluice history sql FILE "SELECT name, max(waiters) FROM lock_resources GROUP BY name" --from 2026-01-02T03:00Z --to 2026-01-02T04:00Z
\`\`\`

\`FILE\` is a recording or a history, also one that a console has open. One \`SELECT\` of SQLite is accepted, also with \`WITH\`; nothing can be
written, and no other file can be read. A query ends after ${QUERY_SECONDS.byDefault} s (\`--seconds\`, at most ${QUERY_SECONDS.most}), at 1 GiB of memory or at 256 MiB of answer, and
returns at most ${QUERY_ROWS.byDefault.toLocaleString('en')} rows (\`--limit\`, at most ${QUERY_ROWS.most.toLocaleString('en')}); a note on standard error says if there are more. The answer is a table on a
terminal, CSV in a pipe and JSON with \`--json\`.

* The range of all tables is \`--from\` to \`--to\`, by default all data. A table takes another one as parameters: Unix ms or ISO 8601 text,
  \`events('2026-01-02T03:00Z', '2026-01-02T04:00Z')\`. The end is exclusive.
* Tables of samples have four tiers: \`raw\`, \`1s\`, \`10s\` and \`1min\`, chosen by \`--tier\` or \`jobs('10s')\`. By default it is the finest that covers the
  whole range. Locks, metadata and tokens have no raw samples: \`raw\` is \`1s\`.
* A condition on \`time_ms\` is applied after reading. For a part of the range use the parameters, which are faster.
* A table has no index. To join two of them use \`WITH ... AS MATERIALIZED\`, as in the example.
* A series without a row in a period was idle. \`avg\` is the mean over its rows only; \`sum\` divided by the number of periods counts idle ones as zero.
* A gap is NULL. Values have seven significant digits. Rows are in no particular order without \`ORDER BY\`.
* Of locks, metadata and tokens, only the most active series of a period have a row; the others are summed in one row (\`is_others\` = 1, name
  \`(others)\`).
* The table \`columns\` lists all of this: \`SELECT * FROM columns WHERE table_name = 'jobs'\`.

## Examples

${ofExamples}

## Tables

${ofTables}

## CSV

\`sluice history csv FILE --table NAME\` and *Export CSV* in the History view write the tables above, without \`time_ms\` and \`is_others\`; \`--what\` is the
earlier name of the option. \`locks\`, \`metadata\` and \`tokens\` are short for \`lock_resources\`, \`metadata_jobs\` and \`token_clients\`. Further tables: \`disk\` (brw_stats
histograms) and \`timeouts\` (adaptive timeout estimates). \`convoys\` and \`decisions\` are in SQL only.

## Metrics

Latest values at \`/metrics\`, all gauges ([History](history.md)). Values older than a minute are not exported.

${ofMetrics}
`

if (process.argv[1] === import.meta.filename) writeFileSync(SCHEMA_PAGE, schemaPage())
