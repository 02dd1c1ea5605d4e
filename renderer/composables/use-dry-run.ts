/** Dry run from anywhere: what is on screen, forked at the cursor, run on the model at once, with the sandbox on screen. */
import { useRouter } from 'vue-router'
import type { StagedFrame } from '#core/api/rule-edits.ts'
import type { Variant } from '#core/api/sandbox.ts'
import { useSandboxRunStore } from '../stores/sandbox-run.ts'
import { PLAIN, useSandboxVariantsStore } from '../stores/sandbox-variants.ts'

/** @returns  the verb; `more` is run beside the variants that the fork suggests. */
export function useDryRun(): (more?: Variant) => void {
  const [router, runs, variants] = [useRouter(), useSandboxRunStore(), useSandboxVariantsStore()]
  return (more) => {
    void router.push({ name: 'sandbox' })
    runs.dryRun('closed', () => {
      if (more === undefined) return
      // A variant that was asked for goes before what was merely suggested.
      while (variants.isFull) variants.remove(variants.entries.at(-1)!.id)
      variants.add(more)
    })
  }
}

type Staged = Pick<StagedFrame, 'service' | 'items'>
/** Staged rules as lctl takes them. */
export function stagedVariant({ service, items }: Staged): Variant {
  const rules = items.map(({ form, verb }) => {
    const queue = form.queue === 'both' ? '' : `${form.queue} `
    const pairs = [
      form.rate === '' ? '' : `rate=${form.rate}`,
      form.rank === '' ? '' : `rank=${form.rank}`,
      form.realtime ? 'realtime=1' : '',
    ]
    const parts = verb === 'stop' ? [] : [verb === 'start' ? form.conditions : '', ...pairs]
    return { service, line: `${queue}${[verb, form.name, ...parts].filter(Boolean).join(' ')}` }
  })
  return { ...PLAIN, name: 'Staged rules', rules }
}
