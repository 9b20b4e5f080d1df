import { z } from 'zod';
import { adapterRefSchema, promptFormatSchema, samplingSchema } from '#shared/schema/model.ts';

export const historySchema = z
  .discriminatedUnion('style', [
    z.object({ style: z.literal('append') }).meta({
      title: 'Append-only',
      help: 'Each step adds to one conversation, so the KV prefix of an episode is evaluated once.',
    }),
    z
      .object({
        style: z.literal('window'),
        steps: z.int().min(0).max(50).default(2).meta({
          title: 'History length',
          unit: 'steps',
          help: 'verl-agent shows the last steps in one new message each time.',
        }),
      })
      .meta({ title: 'Windowed (verl-agent)' }),
  ])
  .default({ style: 'append' });
export type History = z.infer<typeof historySchema>;

/** A model in a role (policy, reflector, …): which weights, which prompt, which decoding. */
export const roleSchema = z.object({
  model: z.string().min(1, 'Choose a model: its name from the list, or the path of a GGUF file.').meta({
    title: 'Model',
    help: 'A model id, the path of a GGUF file, or `scripted:expert` / `scripted:random` for tests.',
  }),
  adapters: z
    .array(adapterRefSchema)
    .default([])
    .meta({ title: 'Adapters', help: 'LoRA adapters in GGUF form.', advanced: true }),
  format: promptFormatSchema.default('auto').meta({
    title: 'Prompt format',
    help: 'Base models without a chat template use the completion format with few-shot examples.',
  }),
  sampling: samplingSchema.prefault({}),
  maxTokens: z
    .int()
    .min(1)
    .max(8192)
    .default(256)
    .meta({ title: 'Longest answer', unit: 'tokens', help: 'The paper allows 1,024.', paper: '1,024' }),
});
export type Role = z.infer<typeof roleSchema>;

/** A model that writes reflections: how long and how warm they are is the run's, whoever writes. */
export const reflectorSchema = roleSchema.omit({ maxTokens: true }).extend({
  sampling: samplingSchema.omit({ temperature: true }).meta({ title: 'Sampling' }).prefault({}),
});
export type Reflector = z.infer<typeof reflectorSchema>;

export const promptStyleSchema = z.enum(['full', 'compact']).default('full').meta({
  title: 'Prompt style',
  help: 'compact: a short system message and no list of admissible actions, for models with a short context such as the starter model. Acting, proposals and training rows all follow it.',
  advanced: true,
});
export type PromptStyle = z.infer<typeof promptStyleSchema>;

/** The policy adds how it reads the past and whether a grammar confines its actions. */
export const policySchema = roleSchema.extend({
  history: historySchema,
  prompt: promptStyleSchema,
  thought: z
    .boolean()
    .default(true)
    .meta({ title: 'Thoughts', help: 'Ask for <think>…</think> before <action>…</action>.' }),
  actionGrammar: z.boolean().default(false).meta({
    title: 'Action grammar',
    help: 'Confine the answer to admissible actions. Makes a random model act; hides invalid actions, so it is off by default.',
  }),
});
export type Policy = z.infer<typeof policySchema>;
