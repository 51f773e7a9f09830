// RUN: tandem-opt %s -td-verify-distribute -split-input-file -verify-diagnostics

// The signature of @step, which is checked at the end of every phase and before whatever goes on from one.

// expected-error @+2 {{argument 0 of @step has the type 'index', which no value of a program has}}
module {
  func.func @step(%n: index {td.scalar = "n"}) {
    return
  }
}

// -----

// expected-error @+2 {{argument 0 of @step is an input without a batch: 'tensor<4xf32>'}}
module {
  func.func @step(%x: tensor<4xf32> {td.input = "x"}) {
    return
  }
}

// -----

// expected-error @+2 {{argument 0 of @step has a batch, 'tensor<?x4xf32>', and only what is marked td.input = "NAME" has one}}
module {
  func.func @step(%x: tensor<?x4xf32> {td.scalar = "x"}) {
    return
  }
}

// -----

// expected-error @+2 {{argument 0 of @step is a td.scalar of the type 'tensor<4xf32>'}}
module {
  func.func @step(%x: tensor<4xf32> {td.scalar = "x"}) {
    return
  }
}

// -----

// expected-error @+2 {{argument 0 of @step is marked neither td.input = "NAME", td.scalar = "NAME" nor td.variable = @NAME}}
module {
  func.func @step(%x: tensor<4xf32>) {
    return
  }
}

// -----

module {
  td.variable @w : tensor<f32> {initializer = [0.0, 0.0, 0.0]}
  // expected-error @+1 {{result 0 of @step is marked neither td.update = @NAME, td.output = "NAME" nor td.check_finite}}
  func.func @step(%w: tensor<f32> {td.variable = @w}) -> tensor<f32> {
    return %w : tensor<f32>
  }
}

// -----

module {
  td.variable @w : tensor<f32> {initializer = [0.0, 0.0, 0.0]}
  // expected-error @+1 {{result 0 of @step updates a variable with a batch: 'tensor<?xf32>'}}
  func.func @step(%x: tensor<?xf32> {td.input = "x"}, %w: tensor<f32> {td.variable = @w}) -> (tensor<?xf32> {td.update = @w}) {
    return %x : tensor<?xf32>
  }
}

// -----

// expected-error @+2 {{@step has the variable @w, which is not declared}}
module {
  func.func @step(%w: tensor<f32> {td.variable = @w}) {
    return
  }
}

// -----

module {
  // expected-error @+1 {{has an initializer of 2 numbers instead of 3}}
  td.variable @w : tensor<f32> {initializer = [0.0, 0.0]}
  func.func @step(%w: tensor<f32> {td.variable = @w}) {
    return
  }
}

// -----

module {
  td.variable @w : tensor<f32> {initializer = [0.0, 0.0, 0.0]}
  // expected-error @+1 {{variable @w is declared as 'tensor<f32>', and @step has}}
  func.func @step(%w: tensor<4xf32> {td.variable = @w}) {
    return
  }
}

// -----

module {
  func.func @step(%n: tensor<f32> {td.scalar = "n"}) -> (tensor<f32> {td.output = "n"}) {
    // expected-error @+1 {{names @absent, which is not a kernel}}
    %m = exec.launch @absent(%n) : (tensor<f32>) -> tensor<f32>
    return %m : tensor<f32>
  }
}
