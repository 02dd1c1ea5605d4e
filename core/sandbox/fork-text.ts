/**
 * A fork as YAML. Names, users and job ids are bytes that anybody chose: they are values and never keys, and no comment holds any
 * of them.
 */
import { ADAPTBF } from '../controllers/registry.ts'
import { Document, isCollection, isMap, isPair, isScalar, visit } from 'yaml'

/** Maps and lists under these keys stand on one line. */
const FLOW: ReadonlySet<string> = new Set([
  'clients',
  'op',
  'pattern',
  'disk',
  'targets',
  'servers',
  'stages',
  'pace',
  ADAPTBF,
  'workload',
  'size_kib',
])

const COMMENTS: Readonly<Record<string, string>> = {
  fork: ' What it was made of, and what of that the model does not know.',
  oss: ' Devices are fitted: see `fork`.',
  jobs: ' Largest first, as they were observed.',
  rules: ' Rules that stood on the servers, in the order in which they are written.',
}

/** @param scenario  plain data, as the schema of scenarios reads it. */
export function forkText(scenario: Readonly<Record<string, unknown>>): string {
  const document = new Document(scenario, { aliasDuplicateObjects: false })
  const root = document.contents
  visit(document, {
    Pair(_, pair) {
      if (isScalar(pair.key) && FLOW.has(String(pair.key.value)) && isCollection(pair.value)) {
        const isPlain = !isMap(pair.value) || pair.value !== root
        const depth = pair.value.items.some((i) => isPair(i) && isCollection(i.value) && String(pair.key) === 'clients')
        if (isPlain && !depth) pair.value.flow = true
      }
      return undefined
    },
  })
  if (isMap(root)) {
    for (const pair of root.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : ''
      if (isScalar(pair.key)) {
        if (Object.hasOwn(COMMENTS, key)) pair.key.commentBefore = COMMENTS[key] ?? null
        if (isCollection(pair.value)) pair.key.spaceBefore = true
      }
    }
  }
  return document.toString({ lineWidth: 0 })
}
