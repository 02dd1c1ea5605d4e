/** `sluice eval SYSTEM`: JSON lines in, JSON lines out, one answer a line, in order. */
import { Command } from 'commander'
import { AdaptbfEval } from '#core/adaptbf/eval.ts'
import { HAECHI_OPS, HaechiEval } from '#core/haechi/eval.ts'
import { PadllEval } from '#core/padll/eval.ts'
import { SEQDLM_OPS, SeqdlmEval } from '#core/seqdlm/eval.ts'
import { LustreEval } from '#core/tbf/eval.ts'
import { line, stop } from './output.ts'

interface Evaluator {
  answer(line: string): string
}

const SYSTEMS: Readonly<Record<string, { readonly ops: string; readonly make: () => Evaluator }>> = {
  adaptbf: {
    ops: 'one observation period per line: {"t","max_rate","dt","jobs":[{"id","nodes","demand"}]}; {"reset":true} forgets',
    make: () => new AdaptbfEval(),
  },
  haechi: {
    ops: `{"op","in"} per line, op one of ${HAECHI_OPS.join(', ')}`,
    make: () => new HaechiEval(),
  },
  lustre: {
    ops: 'one write per line: {"param","cmd","pre":["param=value"],"service"?:{"cpts","hp","ost_io"},"version"?}; a fresh service each',
    make: () => new LustreEval(),
  },
  padll: {
    ops: 'one control cycle per line: {"algorithm","max_rate","jobs":[{"id","demand","usage","forecast"?:{"arrivals","volatility","waiting"}}],"epsilon"?,"slots"?,"oversubscription"?,"leftover"?}',
    make: () => new PadllEval(),
  },
  seqdlm: {
    ops: `{"op",…} per line, op one of ${SEQDLM_OPS.join(', ')}`,
    make: () => new SeqdlmEval(),
  },
}

/** Splits input at newlines only: node:readline would also split a job id at U+2028. */
async function* linesOf(input: NodeJS.ReadStream): AsyncGenerator<string, void, void> {
  let rest = ''
  input.setEncoding('utf8')
  for await (const chunk of input) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

async function evaluate(evaluator: Evaluator): Promise<void> {
  // Each line is answered before the next one is read, so that a caller can use this interactively.
  for await (const text of linesOf(process.stdin)) {
    const answered = process.stdout.write(`${evaluator.answer(text)}\n`)
    if (!answered) await new Promise((resolve) => process.stdout.once('drain', resolve))
  }
}

export function evalCommand(): Command {
  return new Command('eval')
    .description('run an algorithm on JSON lines from standard input')
    .argument('[system]', `which: ${Object.keys(SYSTEMS).join(', ')}`)
    .option('--list', 'list the systems and their input')
    .action(async (system: string | undefined, options: { list?: true }) => {
      if (options.list) {
        for (const [name, s] of Object.entries(SYSTEMS)) line(`${name}\t${s.ops}`)
        return
      }
      const found = system !== undefined && Object.hasOwn(SYSTEMS, system) ? SYSTEMS[system] : undefined
      if (!found) {
        stop(
          {
            code: 'UNKNOWN_SYSTEM',
            what: system === undefined ? 'No system was named' : `There is no system called ${system}`,
            next: `Known: ${Object.keys(SYSTEMS).join(', ')}.`,
          },
          2,
        )
      }
      await evaluate(found.make())
    })
}
