/** Input of a text tool: files of the node, or standard input. */
import type { Result } from '../../base/result.ts'
import { errnoText, type Errno } from '../../lustre/errno.ts'
import type { ByteText } from '../../lustre/text.ts'
import { exitWith, type ExecResult } from '../exec.ts'

/** Reads files with the rights of the user who runs the tool. */
export type ReadFile = (path: string) => Result<ByteText, Errno>

export type TextTool = (args: readonly string[], stdin: ByteText, readFile: ReadFile) => ExecResult

export const linesOf = (text: ByteText): string[] =>
  text === '' ? [] : (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')

export const unknownOption = (tool: string, option: string): ExecResult =>
  exitWith(1, `${tool}: ${option} is not known to this emulated shell\n`)

/** Text of the named files, or of standard input; one line for each failure. */
export function readAll(
  tool: string,
  files: readonly string[],
  stdin: ByteText,
  readFile: ReadFile,
): { texts: { path: string; text: ByteText }[]; stderr: string } {
  if (files.length === 0) return { texts: [{ path: '-', text: stdin }], stderr: '' }
  let stderr = ''
  const texts: { path: string; text: ByteText }[] = []
  for (const path of files) {
    const text = path === '-' ? ({ ok: true, value: stdin } as const) : readFile(path)
    if (text.ok) texts.push({ path, text: text.value })
    else stderr += `${tool}: ${path}: ${errnoText(text.error)}\n`
  }
  return { texts, stderr }
}
