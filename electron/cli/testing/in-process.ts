/** The `sluice` command inside the test's process, for tests that are not about a process: starting one costs most of a second. */
import { vi } from 'vitest'
import { runProgram } from '../program.ts'

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

class Exit extends Error {
  readonly code: number
  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}

/** Runs one command, not two at a time. `env` is added to the environment while it runs. */
export async function sluiceHere(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const said = { stdout: '', stderr: '' }
  const kept = process.env
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      said[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
      return true
    }),
  )
  const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Exit(Number(code ?? process.exitCode ?? 0))
  })
  process.env = { ...kept, ...env }
  let code = 0
  try {
    await runProgram(words)
    code = Number(process.exitCode ?? 0)
  } catch (e) {
    if (!(e instanceof Exit)) throw e
    code = e.code
  } finally {
    process.exitCode = undefined
    process.env = kept
    for (const s of [...spies, exit]) s.mockRestore()
  }
  return { code, ...said }
}
