/** Tests of components check whole views: parts that are rendered a frame later are rendered at once. */
import { revealing } from '../../renderer/composables/use-revealed.ts'

revealing.atOnce = true
