myriad completion bash
