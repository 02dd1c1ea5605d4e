/**
 * `lctl get_param | set_param | list_param` of an emulated node, in the words and exit codes of the development line.
 *
 * Source: spec/lustre 7.1-7.3. Exit code of get_param: the first failing argument; of set_param with several arguments:
 * the last one.
 */
import { errnoNumber, errnoText, type Errno } from '../lustre/errno.ts'
import {
  assignmentFailed,
  formatParam,
  noSuchListing,
  noSuchParam,
  openRefused,
  readRefused,
  writeRefused,
} from '../lustre/lctl.ts'
import type { ExecResult } from './exec.ts'
import { expandBraces, globPattern, hasGlob } from './glob.ts'
import type { Parameter } from './parameter.ts'

const TREES = ['proc', 'sysfs', 'debugfs'] as const

/** Parameters that a name stands for, in lctl's order. */
function find(parameters: readonly Parameter[], word: string): Parameter[] {
  if (!hasGlob(word)) return parameters.filter((p) => p.name === word)
  const patterns = expandBraces(word).map(globPattern)
  return parameters
    .filter((p) => patterns.some((g) => g.test(p.name)))
    .sort((a, b) => TREES.indexOf(a.tree) - TREES.indexOf(b.tree) || (a.name < b.name ? -1 : 1))
}

function splitOptions(args: readonly string[]): { options: Set<string>; names: string[] } {
  const options = new Set<string>()
  const names: string[] = []
  for (const a of args) {
    if (a.startsWith('-') && a.length > 1) for (const c of a.slice(1)) options.add(c)
    else names.push(a)
  }
  return { options, names }
}

function getParam(tool: string, parameters: readonly Parameter[], args: readonly string[]): ExecResult {
  const { options, names } = splitOptions(args)
  if (names.length === 0) return { stdout: `usage: ${tool} [-n|-N] PARAM_PATH ...\n`, stderr: '', code: 4 }
  let stdout = ''
  let stderr = ''
  let code = 0
  for (const name of names) {
    const found = find(parameters, name)
    let rc = 0
    if (found.length === 0) {
      stderr += noSuchParam(tool, name)
      if (tool === 'list_param') stderr += noSuchListing(name)
      rc = errnoNumber('ENOENT')
    }
    for (const p of found) {
      rc = 0
      if (tool === 'list_param' || options.has('N')) {
        stdout += `${p.name}\n`
        continue
      }
      const value = p.read()
      if (!value.ok) {
        stderr += readRefused(p.path, value.error)
        rc = errnoNumber(value.error)
      } else if (!options.has('n')) stdout += formatParam(p.name, value.value)
      else if (value.value !== '') stdout += value.value.endsWith('\n') ? value.value : `${value.value}\n`
    }
    if (code === 0) code = rc
  }
  return { stdout, stderr, code }
}

function setParam(parameters: readonly Parameter[], args: readonly string[]): ExecResult {
  const { options, names } = splitOptions(args)
  if (names.length === 0) return { stdout: 'usage: set_param [-n] PARAM_PATH=VALUE ...\n', stderr: '', code: 4 }
  let stdout = ''
  let stderr = ''
  let code = 0
  for (let i = 0; i < names.length; i++) {
    const word = names[i] as string
    const eq = word.indexOf('=')
    const name = eq < 0 ? word : word.slice(0, eq)
    const value = eq < 0 ? names[++i] : word.slice(eq + 1)
    if (value === undefined || value === '') {
      stderr += `error: set_param: setting ${name}: ${errnoText('EINVAL')}\n`
      code = errnoNumber('EINVAL')
      continue
    }
    const found = find(parameters, name)
    let failed: Errno | undefined
    if (found.length === 0) {
      stderr += noSuchParam('set_param', name)
      failed = 'ENOENT'
    }
    for (const p of found) {
      const written = p.write?.(value)
      if (!written) {
        stderr += openRefused(p.path, 'EACCES')
        failed ??= 'EACCES'
      } else if (!written.ok) {
        stderr += writeRefused(p.path, value, written.error)
        failed ??= written.error
      } else if (!options.has('n')) stdout += `${p.name}=${value}\n`
    }
    if (failed) stderr += assignmentFailed(name, value, failed)
    code = failed ? errnoNumber(failed) : 0
  }
  return { stdout, stderr, code }
}

/** Runs lctl with the given arguments on a node that has the given parameters. */
export function runLctl(parameters: readonly Parameter[], args: readonly string[]): ExecResult {
  const [verb, ...rest] = args
  if (verb === 'get_param') return getParam(verb, parameters, rest)
  if (verb === 'list_param') return getParam(verb, parameters, rest)
  if (verb === 'set_param') return setParam(parameters, rest)
  if (verb === '--version') {
    const version = parameters.find((p) => p.name === 'version')?.read()
    return { stdout: `lctl ${version?.ok ? version.value : 'unknown'}\n`, stderr: '', code: 0 }
  }
  const stderr = `lctl: '${verb ?? ''}' is not a valid command. See 'lctl --list-commands'.\n`
  return { stdout: '', stderr, code: 1 }
}
