/** The tokenizer as the prompt renderer needs it. */
import type { LlamaModel, Token } from 'node-llama-cpp';
import type { Vocabulary } from './prompt.ts';

/** GGUF's token type for control tokens. */
const controlType = 3;

export function createVocabulary(model: LlamaModel): Vocabulary {
  const { bos, bosString, eosString, shouldPrependBosToken } = model.tokens;
  return {
    tokenize: (text, { special, first }) =>
      first ? model.tokenize(text, special) : model.tokenize(text, special, 'trimLeadingSpace'),
    textOf: (tokens) => model.detokenize([...tokens] as Token[], true),
    controlTexts: controlTexts(model),
    bos,
    bosText: bosString ?? '',
    eosText: eosString ?? '',
    prependBos: shouldPrependBosToken,
  };
}

export function vocabularySize(model: LlamaModel): number {
  return tokenTexts(model).length;
}

function tokenTexts(model: LlamaModel): readonly string[] {
  return model.fileInfo.metadata.tokenizer?.ggml.tokens ?? [];
}

function controlTexts(model: LlamaModel): Set<string> {
  const types: readonly number[] = model.fileInfo.metadata.tokenizer?.ggml.token_type ?? [];
  return new Set(tokenTexts(model).filter((_, index) => types[index] === controlType));
}
