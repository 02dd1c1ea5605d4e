import { expect, it } from 'vitest'
import { ok } from '../base/result.ts'
import { ParameterFiles } from './parameter-tree.ts'
import type { Parameter } from './parameter.ts'

const PATHS = ['/proc/fs/lustre/a/x', '/proc/fs/lustre/b/x', '/sys/kernel/debug/lustre/a/x']

function files(): { files: ParameterFiles; set: (value: string) => void } {
  let value = '1\n'
  const parameters = PATHS.map((path): Parameter => ({ name: path, path, tree: 'proc', read: () => ok(value) }))
  return { files: new ParameterFiles(parameters), set: (v) => (value = v) }
}

it('returns the same matches for a repeated pattern, with current values', () => {
  const { files: tree, set } = files()
  const values = (): unknown[] => tree.match('/proc/fs/lustre/*/x', true).map(({ path, file }) => [path, file?.read()])
  expect(values()).toEqual(PATHS.slice(0, 2).map((path) => [path, ok('1\n')]))
  set('2\n')
  expect(values()).toEqual(PATHS.slice(0, 2).map((path) => [path, ok('2\n')]))
})

it('hides root’s matches from other users, in either order', () => {
  const debugfs = '/sys/kernel/debug/lustre/*/x'
  for (const order of [
    [true, false],
    [false, true],
  ]) {
    const { files: tree } = files()
    const found = order.map((isRoot) => [isRoot, tree.match(debugfs, isRoot).length])
    expect(found).toEqual(order.map((isRoot) => [isRoot, isRoot ? 1 : 0]))
  }
})

it('finds the same after any number of other patterns', () => {
  const { files: tree } = files()
  const before = tree.match('/proc/fs/lustre/?/x', true).map(({ path }) => path)
  for (let i = 0; i < 1000; i++) expect(tree.match(`/proc/fs/lustre/none${i}*`, true)).toEqual([])
  expect(tree.match('/proc/fs/lustre/?/x', true).map(({ path }) => path)).toEqual(before)
  expect(before).toEqual(PATHS.slice(0, 2))
})
